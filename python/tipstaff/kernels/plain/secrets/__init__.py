"""The twin of the secrets kernel: a text and a compiled table in, the spans of secrets out.

Read `scanner` (the walk), `table` (the rules read from a table), `shapes` (a shape as a regular expression), then
`assignments`, `names`, `cells`, `values`, `forms`, `samples` and `letters` (what a name is given, and whether that is a
secret), and `encodings`.
"""

from tipstaff.kernels.plain.secrets.scanner import SecretTable

__all__ = ["SecretTable"]
