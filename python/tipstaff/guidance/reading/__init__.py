"""Rule files in, documents out: blocks of text with byte ranges, and the scope that each file gives its rules.

Read `rule_files` (which files are rule files, of which host), then `discovery` (the root, and finding them),
`sources` (reading them) and `imports` (what they import), `documents` and `source_text` (the records), `markdown`
(blocks) and `source_text`, `elements` (HTML and a file's own tags) and `constitution_headings`.
"""
