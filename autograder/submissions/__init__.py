"""What was handed in, and how the archives of Moodle and Canvas become submissions."""
