"""Files of a repository and its user in, texts for the sections of a prompt out.

Read `memory_tiers` (the eight tiers), `path_rules` (rules of active files), `git_state`, `watched` (reading again only
what changed).
"""
