"""Texts in, spans of secrets out, by rules that are data.

Read `scanner` (finding and masking), `packs` (rules read and checked), `shapes` (the language of shapes), `table`
(compiling for the native scanner), `anchors`, `buckets` and `pairs` (its prefilter).
"""
