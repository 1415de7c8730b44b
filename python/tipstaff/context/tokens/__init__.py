"""Texts, messages and tools in, numbers of tokens out.

Read `counting` (texts, messages, tools), `request_tokens` (whole requests, counted once), `estimator` (the fitted
estimate), `weights` (its weights), `media` (images and documents).
"""
