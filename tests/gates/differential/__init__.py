"""Programs that a grammar makes, run by real shells that can harm nothing, beside what the reader of commands says.

`recorder.c` stands under the names of destructive programs and writes down how it was called; `sandbox.py` runs shells
in a root folder of their own, without a network, where nothing else is; `grammar.py` draws the programs; `comparison.py`
says what mattered and was not stopped, and makes it small; `languages.py` does the same for code of other languages.
`python -m tests.gates.differential --help` is the long run.
"""
