"""SOPs and conventions as a graph: entities with predicates, exported, and queried in process.

Read `store` (statements and queries), `chunker` (a document's parts), `entities` (statements of SOPs and conventions),
then `export` (N-Quads and JSON-LD).
"""
