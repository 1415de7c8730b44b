"""The caller's messages and the providers' answers in, the arguments of the next call out, for a whole session.

Read `session` (the object and its loop), then `state` (what it remembers), `intake` (what is new in what a caller
gives), `view` (the conversation as it is sent), `deliveries` (what changes between calls), `meter` (tokens), `fitting`
(when the conversation is shortened), `overflow` (the last resort), `apis` (the three APIs); `reports`, `course`,
`course_file`, `course_plot` say what calls took, `regions` the same as a window in regions.
"""
