"""Texts in, words and what they mean out: the vocabulary that compiling and retrieval share.

Read `tokenize` (texts to words), `word_forms` (what demands and forbids, in all forms and languages), `word_roles` and
what single words do, `cues` (which expressions are worth a search), `claims` (what a rule demands),
`vocabulary` (intents and domains of a rule's words).
"""
