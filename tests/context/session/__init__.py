"""Whole sessions: the real SDKs against local servers that refuse what the providers refuse."""
