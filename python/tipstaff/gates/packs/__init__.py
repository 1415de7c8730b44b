"""Packs of gate rules (TOML files in this folder, and a repository's own) in, checked records out.

Read `model` (the records), `reader` (files to records), `conditions` (what a rule asks for), `weakenings` (whether a
repository's changes count), `samples` (each rule held to its own samples). The folder `secrets`
has the packs of secret rules.
"""
