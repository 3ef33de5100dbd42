"""The memory of a course in one file, and back."""
