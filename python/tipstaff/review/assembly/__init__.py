"""A change in, what its reviewer reads out.

Read `selection` (what fits, by tier), then where the tiers come from: `decisions`, `summaries` (with `signatures`),
`conventions`; `reviewer` puts them together for a repository.
"""
