"""Texts, messages and tools in, numbers of tokens out.

Read `counting` (the public functions), `estimator` (the fitted estimate), `token_weights` (its weights), `media`
(images and documents).
"""
