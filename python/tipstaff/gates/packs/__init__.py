"""Packs of gate rules (TOML files in this folder, and a repository's own) in, checked records out.

Read `reader` (files to records), `model` (the records), `samples` (each rule held to its own samples). The folder
`secrets` has the packs of secret rules.
"""
