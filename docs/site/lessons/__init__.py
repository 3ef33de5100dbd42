"""Lessons as pages: run once with every answer solved, then written down with their outputs."""
