"""The checker process: it runs the test cells, outside the sandbox, and keeps the score."""
