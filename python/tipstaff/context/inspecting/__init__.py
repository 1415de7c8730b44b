"""Requests and calls in, records, figures and pictures for people out: what the window really contained."""
