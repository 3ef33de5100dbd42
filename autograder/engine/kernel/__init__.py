"""What stands in for a Jupyter kernel inside the student process."""

from hashlib import sha1

__all__ = ["cell_file_name"]


def cell_file_name(source: str) -> str:
    """The name that Python's tracebacks and frames give a cell.

    Args:
        source: The cell's text, of which alone the name is made.

    Returns:
        "<ipython-input-…>" with twelve hexadecimal digits.
    """
    return f"<ipython-input-{sha1(source.encode('utf-8', 'replace')).hexdigest()[:12]}>"
