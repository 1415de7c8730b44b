"""Which checks a repository has, and what their results mean.

A configuration and a repository come in, checks go out; results come in, a verdict goes out. Read `model`, `resolving`
(a configuration alone), `judging`, then `facts`, `presets`, `targets` and `detection` (a repository as well).
"""
