"""Byte layouts that native code and Python both read: lexicons and tables, as data.

Read `lexicon` (words and their values), `roles` (the numbers of word roles), `intent_table` (intents and phrases).
"""
