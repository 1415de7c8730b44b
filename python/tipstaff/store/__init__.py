"""What is on disk: compiled rules, the fingerprints of their sources, the database, the owner's state folder.

::

    bundle, vectors --shards.write_store--> file --shards.open_store--> ShardStore: views, shards, bundle
    rule files, folders --fingerprints.fingerprint_sources--> Fingerprint --is_unchanged--> still the same?

`database` has the engines and the schemas of what is kept in rows: ledger, candidates. `appending` adds lines to a file
that many processes write, `replacing` lets a file take another's place in one step. Reading a store imports neither
pyarrow nor NumPy.
"""
