"""Attacks on the gate, played against the built programs: what a misled agent, a repository or another user would try.

Only verdicts are asked for: no command of an attack is run. Homes, repositories, keys and secrets are decoys in
temporary folders, and the person is played by a pseudo-terminal of the test's own.
"""
