"""Candidate rules in, a policy bundle out: identities, merging, conflicts, and what is always loaded.

Read `compiler` (the whole) and `compiler_config`, then `rule_maker` and `identity` (one rule), `merging` and
`precedence` (rules of several files), `conflicts` (duplicates and contradictions) with `statements`, `stances` and
`choices`, `constitution` (what is always loaded, and what the model reads of the others).
"""
