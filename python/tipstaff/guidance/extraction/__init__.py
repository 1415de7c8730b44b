"""Documents in, candidate rules out: which words of a document are a rule, and with which attributes.

Read `extraction` (the walk through a document), `outline` (what it remembers on the way), then `headings`, `paragraphs`
and `items` (one per kind of block), `kinds` and `sentences` (what is a rule), `grammar` and `patterns` (what they look
for), `annotations` and `candidate`.
"""
