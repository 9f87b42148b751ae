"""Programs that run where nothing of ours is installed: standard library alone, Python 3.8 and newer.

They are sent as text (`checks.hosts.ground`), never imported. `frame.py` goes before each of them and
gives it `tell`, `start` and `end_all`; a program is one file with `main(request, tell)`.
"""
