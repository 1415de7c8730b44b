"""Makes the table of the static embedding: text of named packages, a teacher, a fit. Not part of the wheel."""
