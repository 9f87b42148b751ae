"""What an engineer takes away, and what a dry run loads: a frozen bundle, its variables, its files.

`rows` builds the bundle; nothing else here knows a row or a request. `actions.bundles` keeps the record of
what leaves.
"""
