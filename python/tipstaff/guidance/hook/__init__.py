"""Compiled rules in, the image that the native hook maps out.

Read `image` (the file's layout), then `scopes` (globs compiled for the native reader).
"""
