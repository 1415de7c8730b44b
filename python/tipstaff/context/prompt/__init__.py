"""Sections in, a system prompt within a budget out, with a report of every cut."""
