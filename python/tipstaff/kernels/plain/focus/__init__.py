"""The twin of the focus kernel: a request's text in, the paths, symbols and signals that it names out.

Read `scanner` (the walk), then `paths` and `symbols`; `words` and `bytes` are its tables, `found` its results.
"""

from tipstaff.kernels.plain.focus.scanner import focus_scan

__all__ = ["focus_scan"]
