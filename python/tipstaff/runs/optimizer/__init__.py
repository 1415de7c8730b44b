"""The optimizer: runs in, changes of the rules that evidence supports out, as patches for a person to accept.

Read `changes` (what a change is, and how it becomes a patch of the rule files), `proposers` (and what is known of a
change without a model), `trials` (which run has which change), then `optimizer`.
"""
