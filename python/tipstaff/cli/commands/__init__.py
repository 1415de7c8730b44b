"""One module per command of `tipstaff`, each with a click command named `command`.

Imports of what a command needs are inside its functions, so that ``tipstaff --help`` loads none of it.
"""
