"""What is kept on disk: the Arrow shard store and the fingerprints of what it was built from."""
