"""The ledger: runs and verdicts in, a signed chain in SQLite or PostgreSQL, Arrow and Parquet out.

Read `chain` (what is signed), `entries`, `schema`, `database`, `groups`, `writing`, `ledger`, then `verification`,
`ingestion`, `retention` and `columns`, which the ledger calls.
"""
