"""What compiled kernels and Python both need: byte layouts, and the rules by which texts are read.

Read `lexicon` (words and their values), `roles` (what a word does to its clause), `clauses` and `stems` (a text's
clauses and words), `intent_table` (words and phrases of intents), `task_text` (the words and paths of a task),
`secret_table` and `shape_codes` (the rules of the secrets scanner).
"""
