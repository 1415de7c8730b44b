"""The headless runner: suites in YAML in, reports of what agents did out.

Read `suites`, `streams`, `executors`, `runner`, then `reports`.
"""
