"""A reviewer's answer in, what happens next out.

Read `answer` (the schema), `verify` (whether it may be believed, and where it leads), then `asking` (a model as the
reviewer).
"""
