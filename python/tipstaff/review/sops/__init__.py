"""Standard operating procedures: Markdown files in, the ones that apply to a change out.

Read `documents` (one file), `matching` (which apply), `store` (many of them in
an Arrow file), `folder` (all files of a repository), then `linting`.
"""
