"""From submissions to journal, gradebook and executed notebooks."""
