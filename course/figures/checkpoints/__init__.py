"""Saved files, drawn: which entries a `.pt` file has, and which tensors lie in each of them."""

from course.figures.checkpoints.contents import Contents, Entry, Stored, read_file
from course.figures.checkpoints.file import show_file

__all__ = ["Contents", "Entry", "Stored", "read_file", "show_file"]
