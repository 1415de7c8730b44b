"""Tasks in, whether they fit a model's window out; and how one that does not could be divided.

Read `budget` (the formula), `scope` (which files a task means), `generated` (which files cost a flat amount), then
`measuring` (sizes of real files), `imports` and `decomposition` (groups of files that fit).
"""
