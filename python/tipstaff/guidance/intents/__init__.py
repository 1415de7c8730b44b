"""A task's text in, its kind of work out.

Read `classify` (the answer), `words` (the words and phrases, as data), `lexicon` (packing them for the kernels),
`task_words` (the words of a task in any script).
"""
