"""Rule files in, documents out: blocks of text with byte ranges, and the scope that each file gives its rules.

Read `rule_files` (which files are rule files, of which host) and `repository_root`, then `sources` (finding them and
what they import), `documents` and `source_text` (the records), `markdown` (blocks), `elements` (HTML and a file's own
tags), `repository_files` and `constitution_headings`.
"""
