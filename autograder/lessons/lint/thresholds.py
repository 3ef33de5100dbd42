"""The numbers that every lesson keeps to, and the mark of what is still to be written."""

from __future__ import annotations

LEAST_RIGHT, LEAST_WRONG = 2, 5  # answers to an exercise, in the lesson's bank
LEAST_CHECKS, LEAST_HIDDEN = 8, 3  # of a test cell, all and hidden ones
MOST_WORDS, MOST_LINES = 85, 15  # of a text cell, its tables aside; of a cell that measures
ALL_LEVELS_FROM = 5  # a lesson with so many exercises has some of each difficulty
TO_WRITE = "✎"  # what `new-lesson` and `new-exercise` leave for the author
