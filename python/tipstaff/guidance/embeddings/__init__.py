"""Texts in, float32 unit vectors out.

Read `hash_embedding` (the protocol and the seed's embedding), `static_embedding` (the default: meaning without a
model), `onnx_embedding` (a local sentence transformer, optional extra).
"""
