"""A session's conversation, for three APIs: the caller's messages and answers in, the arguments of a call out.

Read `sdk` (objects of the SDKs as plain data), then `wire` (what an API has to do), then the three: `messages_api` with
`breakpoints`, `chat_api`, `responses_api`; `select` finds one by its name.
"""
