"""A long conversation in, a shorter one out, with every lost part accounted for.

Read `pruning` (a smaller view for one request), `pruner`, `stubs` and `results` (cut where nothing else helps), then
`compaction` (shortening for good), `compaction_config`, `preamble` (what a compacted conversation begins with),
`facts`, `summarizers` and `model_calls` (who writes the summary). `window` keeps a run's window in regions and says
what leaves it first.
"""
