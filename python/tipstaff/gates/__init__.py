"""Gates: what a tool call would do, judged before it is done.

`tipstaff.gates.engine` answers; `tipstaff.gates.packs` reads the rules, which are data; `tipstaff.gates.policy_image`
compiles them to the image that the native engine and the hook program read. Importing this package imports nothing.
"""
