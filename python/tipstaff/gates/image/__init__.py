"""Packs and settings in, the policy image out that the native engine and the hook map.

Read `policy` (which packs and settings hold for a repository), `policy_file` (the image with what it was compiled
from), `policy_image` (compiling), `layout`, `options` and `triggers` (its sections).
"""
