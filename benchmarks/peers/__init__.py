"""Peers that do not come from PyPI: the npm package ``@claude-flow/guidance``, driven in one long-lived Node process.

``python -m benchmarks.peers`` fetches it into ``build/peers`` where Node and npm are present. Nothing of it is kept in
this repository.
"""
