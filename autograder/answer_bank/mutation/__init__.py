"""Small changes to a solution, one at a time, to see which of them a test cell notices."""
