"""Cluster: bulk work on many processes, here or on Ray, and batches over Arrow Flight.

Read `spreading` (who runs a function over parts), `flight` (verdicts, rules and secrets for other languages). Verdicts
themselves need no cluster: they take a microsecond where the call is. Importing this package imports nothing.
"""
