"""The optimizer: runs in, changes of the rules that evidence supports out, as patches for a person to accept.

Read `changes` (what a change is), `proposers`, `replayed` (what is known of it without a model),
`experiments` (which run has which change), `editing` (a change as a
patch of the rule files), `history` (what the ledger remembers), then `optimizer`.
"""
