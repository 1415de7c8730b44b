"""Sections in, a system prompt within a budget out, with a report of every cut.

Read `assembly` (the whole), `sections`, `budget` and `allowances` (who gets how much), `truncation` and `enclosures`
(how a text is cut), `focus`, `relevance` and `boosts` (what the request raises).
"""
