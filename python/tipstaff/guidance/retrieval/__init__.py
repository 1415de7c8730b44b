"""A task and a bundle or store in, the few rules that matter out, each with its reason.

Read `retriever` (the object that callers use), `fused` and `fused_index` (the default search, and what it reads),
`search` (for other embeddings), `shard_index` (the columns that scoring reads), `vectors`, `masks` and `filters` (what
limits the search), `selection` (contradictions), `prompt_budget` (how many), `nested_rules` (what is loaded beside
them), `shard_profiles` (what is known of shards beside their vectors), `reasons` and `explanation` (why),
`tenant_views`; `ranking` does without a bundle.
"""
