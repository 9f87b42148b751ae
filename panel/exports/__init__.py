"""What an engineer takes away: a frozen bundle, its variables, its files.

Nothing here knows a row or a request; `actions.bundles` builds the bundle and keeps the record of it.
"""
