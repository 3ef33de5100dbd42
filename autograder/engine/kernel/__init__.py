"""What stands in for a Jupyter kernel inside the student process."""
