"""The numbers that every lesson keeps to, and the mark of what is still to be written."""

from __future__ import annotations

LEAST_RIGHT, LEAST_WRONG = 3, 8  # answers to an exercise, in the lesson's bank
LEAST_CHECKS, LEAST_HIDDEN = 8, 3  # of a test cell, all and hidden ones
MOST_WORDS, MOST_LINES = 85, 15  # of a text cell, its tables aside; of a cell that measures
ALL_LEVELS_FROM = 5  # a lesson with so many exercises has some of each difficulty
MOST_PREDICTIONS = 10  # in the text of a lesson; the quiz at its end takes the others
UNIT_MINUTES, CORE_MINUTES = (15, 25), (60, 90)  # of a unit, and of all units of the core
PROJECT_MINUTES, LEAST_QUESTIONS = (120, 180), 2  # of a project; questions for a person to read
# What a minute holds: so many words, 4/3 predictions or warm-ups, 4 other cells to run.
WORDS_A_MINUTE, ASKED_MINUTES, RUN_MINUTES = 180, 0.75, 0.25
TO_WRITE = "✎"  # what `new-lesson` and `new-exercise` leave for the author
TASK_WORDS = 90, 120  # of a task, its code and tables aside: in the core, in a deep dive
