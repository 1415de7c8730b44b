"""A task and a bundle or store in, the few rules that matter out, each with its reason.

Read `retriever` (the object that callers use), `search` (task to best shards), `shard_index` (the columns that scoring
reads), `vectors`, `masks` and `filters` (what limits the search), `selection` (contradictions), `shard_profiles`
(what is known of shards beside their vectors), `reasons` and `explanation` (why), `tenant_views`, `scoring_threads`,
`sign_parts` (very many shards).
"""
