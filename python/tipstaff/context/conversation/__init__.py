"""Conversations of any provider in, the native shape out, and back without loss.

Read `messages` (the native shape), `shapes` (how conversions work), `openai_chat`, `openai_responses` and
`openai_parts` (the two OpenAI shapes), `calls` (what tool calls do), `transcript` (a conversation as text) and
`graphemes` (where a text may be cut).
"""
