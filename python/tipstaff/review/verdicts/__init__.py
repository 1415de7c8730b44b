"""A reviewer's answer in, what happens next out.

Read `answer` (the schema), `evidence` (whether it is there), `verify` (whether the answer may be believed, and where it
leads), then `asking` (a model as the reviewer).
"""
