"""The commands, grouped by who uses them: authors, instructors, whoever looks after a machine."""
