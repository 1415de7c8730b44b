"""The ledger: runs and verdicts in, a signed chain in SQLite or PostgreSQL, Arrow and Parquet out.

Read `chain` (what is signed), `schema`, `writing`, `ledger`, then `verification`, `ingestion`, `retention` and
`columns`, which the ledger calls. The database itself is `tipstaff.store.database`.
"""
