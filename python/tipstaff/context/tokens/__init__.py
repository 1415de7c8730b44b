"""Texts, messages, tools and whole requests in, numbers of tokens out."""
