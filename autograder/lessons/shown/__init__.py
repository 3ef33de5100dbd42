"""Cells of a lesson that only show: which they are, and when they need not run."""
