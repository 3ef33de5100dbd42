"""HTML pages, the pictures in them, and nbgrader's own pages."""
