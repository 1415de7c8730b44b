"""Words that made-up rules are put together from."""

from __future__ import annotations

VERBS = ("Review", "Test", "Document", "Measure", "Encrypt", "Delete", "Deploy", "Log", "Validate", "Cache")
OBJECTS = ("passwords", "migrations", "queries", "endpoints", "images", "releases", "timeouts", "invoices", "widgets")
CIRCUMSTANCES = (
    "in staging",
    "before merging",
    "for every tenant",
    "on mobile",
    "in the parser",
    "under load",
    "at night",
)
