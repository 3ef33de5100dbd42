"""nbgrader's configuration: this repository is the course root.

`nbgrader generate_assignment`, `autograde`, `generate_feedback`, `validate` and formgrader work
from here as they do in any nbgrader course. Another course directory is named by the variable
PYTORCH_MEASURED_COURSE or by nbgrader's own `--course-dir`, which wins.
"""

import os
from pathlib import Path

c = get_config()  # noqa: F821 - traitlets puts it there when it reads a configuration file

# Not the current directory: formgrader is started from wherever JupyterLab is.
c.CourseDirectory.root = os.environ.get(
    "PYTORCH_MEASURED_COURSE", str(Path(__file__).resolve().parent)
)
c.CourseDirectory.course_id = "pytorch-measured"
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "release"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"
c.CourseDirectory.db_url = f"sqlite:///{Path(c.CourseDirectory.root) / 'gradebook.db'}"

# The stub that checks know as "not attempted": nbgrader's default, said here as they rely on it.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
# A solution outside a solution cell, or a hidden test outside a test cell, stops the release.
c.ClearSolutions.enforce_metadata = True
c.ClearHiddenTests.enforce_metadata = True

# The limits of the grading engine, so that both give a slow cell the same score. After a timeout
# the cell is interrupted and the next one runs.
c.Execute.timeout = 30
c.Execute.interrupt_on_timeout = True
# A kernel warns of its unencrypted loopback at each start, once a submission.
c.Execute.extra_arguments = ["--log-level=ERROR"]

# A test cell that a learner deleted is put back, rather than ending the batch.
c.OverwriteCells.add_missing_cells = True

# Warnings and errors only: a line for each file copied hides them.
c.Application.log_level = "WARN"
