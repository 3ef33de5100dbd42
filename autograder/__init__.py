"""Release, grade and explain the lessons: one step per module, in the order of a submission."""
