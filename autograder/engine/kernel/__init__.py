"""What stands in for a Jupyter kernel inside the student process."""

from hashlib import sha1

__all__ = ["cell_file_name"]


def cell_file_name(source: str) -> str:
    """The name that Python's tracebacks and frames give a cell, made of its text alone."""
    return f"<ipython-input-{sha1(source.encode('utf-8', 'replace')).hexdigest()[:12]}>"
