"""Evaluators: a finished run in, one result for each question out.

Read `evaluating`, then `manifests`.
"""
