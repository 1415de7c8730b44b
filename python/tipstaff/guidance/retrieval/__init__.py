"""A task and a bundle or store in, the few rules that matter out, each with its reason.

Read `retriever` (the object that callers use), `search` (the best shards for a question), `fused_index` (what it
reads), `shard_index` (the columns beside it, scopes and dates) and `vectors` (what is asked of an
embedding), `selection` (contradictions, how many) with `shard_profiles` (what is known of shards),
`reasons` and `explanation` (why); `ranking` does without a bundle. `task_vocabulary` has the words of tasks.
"""
