"""What each status means, in the words of its two readers: the learner and the instructor."""

from __future__ import annotations

from autograder.records.model import ExerciseRecord, Status, SubmissionRecord

TO_LEARNER = {
    Status.GRADED: "Your notebook was run and graded.",
    Status.TIMEOUT: (
        "A cell ran longer than its time limit and was stopped. Exercises that do not depend on "
        "it were graded. Look for a loop that never ends."
    ),
    Status.OUT_OF_MEMORY: (
        "A cell asked for more memory than a submission gets, and was stopped. Exercises that do "
        "not depend on it were graded. Look for a tensor that is much larger than you meant."
    ),
    Status.CRASHED: (
        "A cell ended the Python process, so what depended on it could not be checked. "
        "Restart the kernel, choose Run All Cells, and see where it stops."
    ),
    Status.MALFORMED: (
        "Your file could not be read as a notebook, so nothing in it was judged. Open it in "
        "JupyterLab, save it, and hand it in again."
    ),
    Status.MISSING: (
        "No notebook of this lesson was in your submission, so nothing was judged. "
        "Hand in the notebook itself under its own name."
    ),
    Status.TAMPERED: (
        "Something in your notebook reached for the grading itself. Nothing was judged by "
        "machine; your teacher looks at it."
    ),
    Status.INFRASTRUCTURE: (
        "The grader failed, not you. Nothing was judged, and no points are lost; your teacher "
        "grades it again."
    ),
}

TO_INSTRUCTOR = {
    Status.GRADED: "Nothing to do.",
    Status.TIMEOUT: "A cell ran too long. The other exercises are graded; look at the code.",
    Status.OUT_OF_MEMORY: "A cell wanted too much memory. The other exercises are graded.",
    Status.CRASHED: "A cell ended the process. The other exercises are graded.",
    Status.MALFORMED: "The file is no notebook. Ask for it again, then run `grade`.",
    Status.MISSING: "The folder holds no notebook of this lesson. Ask for it, then run `grade`.",
    Status.TAMPERED: "The notebook reached for the grading. Read it before you give points.",
    Status.INFRASTRUCTURE: "The grader failed. Run `grade` again; see the note.",
}

STATUS_WORDS = {
    Status.GRADED: "graded",
    Status.TIMEOUT: "stopped: too slow",
    Status.OUT_OF_MEMORY: "stopped: too much memory",
    Status.CRASHED: "crashed",
    Status.MALFORMED: "not readable",
    Status.MISSING: "not handed in",
    Status.TAMPERED: "under review",
    Status.INFRASTRUCTURE: "not graded yet",
}

SHORT_WORDS = {  # in a cell of a table, for the instructor
    Status.GRADED: "graded",
    Status.TIMEOUT: "too slow",
    Status.OUT_OF_MEMORY: "out of memory",
    Status.CRASHED: "crashed",
    Status.MALFORMED: "unreadable",
    Status.MISSING: "no notebook",
    Status.TAMPERED: "tampered",
    Status.INFRASTRUCTURE: "grader failed",
}


def counts(record: SubmissionRecord | ExerciseRecord) -> bool:
    """Whether the points are a judgement; where they are not, no number may stand alone."""
    return record.status is Status.GRADED or record.score > 0


def is_unread(exercise: ExerciseRecord) -> bool:
    """Whether the grader leaves the points to a person who reads the answer."""
    return exercise.manual and exercise.attempted and exercise.status is Status.GRADED


def state_of(exercise: ExerciseRecord) -> str:
    """One word for what became of an exercise: the colour and the sign it gets on a page."""
    if exercise.status is not Status.GRADED:
        return "stopped"
    if exercise.manual:
        return "manual" if exercise.attempted else "open"
    if not exercise.attempted:
        return "open"
    if exercise.score >= exercise.max:
        return "full"
    return "part" if exercise.score > 0 else "none"
