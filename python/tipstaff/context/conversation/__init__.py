"""Conversations of any provider in, the native shape out, and back without loss."""
