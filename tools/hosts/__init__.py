"""Runs the real programs of agent hosts with the hook registered, against a model server of our own.

In: the hosts' packages from npm and this package's programs. Out: a line for each check, the table of docs/reference/hosts.md.
Nothing but 127.0.0.1 can be reached while they run. Read `model` (the server), `client` and `clients` (how each program
is started), `bench` (the repository and a run), `checks`, then `__main__`.
"""
