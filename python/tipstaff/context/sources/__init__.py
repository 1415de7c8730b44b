"""Files of a repository and its user in, texts for the sections of a prompt out."""
