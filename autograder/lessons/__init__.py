"""A lesson as data: its cells, its rules, and the two editions made from it."""
