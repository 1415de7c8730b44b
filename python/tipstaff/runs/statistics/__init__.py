"""Statistics: runs in, figures with intervals and decisions with a stated error out.

Read `metrics` (figures, intervals, rules), then `sequential`.
"""
