"""Evaluators: a finished run in, one result for each question out.

Read `results`, `evaluating` (the simple ones, and `evaluate`), then `commands`, `manifests` and `dependencies`.
"""
