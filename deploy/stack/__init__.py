"""The real servers of a production set-up, on one machine and without containers.

One module a server, each a `Server` of `server.py`; `servers.py` lists them.
"""
