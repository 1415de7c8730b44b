"""Statistics: runs in, figures with intervals and decisions with a stated error out.

Read `metrics`, `intervals`, `rules`, then `sequential` and `simulation`.
"""
