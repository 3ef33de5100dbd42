"""A grading worker: grades one submission after another, and starts the processes it takes."""
