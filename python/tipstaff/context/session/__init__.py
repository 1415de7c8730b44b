"""The caller's messages and the providers' answers in, the arguments of the next call out, for a whole session.

Read `session` (the object and its loop), then `intake` (what is new in what a caller gives), `view` (the conversation
as it is sent), `deliveries` (what changes between calls), `meter` (tokens), `wire` (the three APIs) with `sdk` and
`breakpoints`, `course` (what each call took), `regions` (the same as a window in regions) and `overflow`.
"""
