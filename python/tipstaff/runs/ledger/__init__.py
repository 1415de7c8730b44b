"""The ledger: runs and verdicts in, a signed chain in SQLite or PostgreSQL, Arrow and Parquet out.

Read `chain` (what is signed, stored and verified), `ledger`, then `ingestion` and `columns`, which the ledger
calls. The database itself is `tipstaff.store.database`.
"""
