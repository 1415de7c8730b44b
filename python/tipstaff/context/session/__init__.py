"""The caller's messages and the providers' answers in, the arguments of the next call out, for a whole session."""
