"""Gates: what a tool call would do, judged before it is done.

Tool calls come in, results go out. Read `config` and `results` (the records), `judging` (the engine that answers),
`packs` (the rules, which are data), `image` (compiling them for the native engine and the hook), `secrets`.
Importing this package imports nothing.
"""
