"""What grading found: the records, their journal, and what every runner offers."""
