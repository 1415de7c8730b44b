"""Rule files in, documents out: blocks of text with byte ranges, and the scope that each file gives its rules.

Read `rule_files` (which files are rule files, of which host) and `repository_root`, then `discovery` (finding them),
`sources` (reading them) and `imports` (what they import), `documents` and `source_text` (the records), `markdown`
(blocks) and `offsets`, `elements` (HTML and a file's own tags), `repository_files` and `constitution_headings`.
"""
