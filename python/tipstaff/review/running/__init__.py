"""Checks and a repository in, results out.

Read `results` (the records), `supervisor` (what ends commands if tipstaff is killed), `processes` (one command and its
children), `schedule` (all of them, by dependency), `coverage` (thresholds), then `run` (all of it) and `feedback` (the
text for an agent).
"""
