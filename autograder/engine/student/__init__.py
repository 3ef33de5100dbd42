"""The student process: it runs the learner's cells and answers what a checker asks."""
