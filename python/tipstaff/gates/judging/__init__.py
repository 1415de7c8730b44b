"""Tool calls in, results out: the native engine called, its findings given words.

Read `engine` (the public object), `events` (calls as the native engine takes them), `answers` (results of what was
found), `findings`, `explanation`, `surroundings` (directory, repository, home), then one file per gate: `secret_gate`,
`allowlist`, `diff_size`, and `related_rules` (the guidance rules related to a finding).
"""
