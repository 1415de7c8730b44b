"""Replay: recorded calls in, what a changed policy would decide otherwise out.

Read `calls`, `comparing`, then `report`.
"""
