"""nbgrader's configuration: this repository is the course root.

`nbgrader generate_assignment`, `autograde`, `generate_feedback`, `validate` and formgrader work
from here as they do in any nbgrader course.  Another course directory is named by the variable
PYTORCH_MEASURED_COURSE or by nbgrader's own `--course-dir`, which wins; the gradebook moves with
it, as no `db_url` is set here.  The command line always wins.
"""

import os
from pathlib import Path

from jupyter_core.paths import jupyter_config_path

c = get_config()  # noqa: F821 - traitlets puts it there when it reads a configuration file

# --- where neither you (~/.jupyter) nor your site (/etc/jupyter) says otherwise ------------------

c.CourseDirectory.course_id = "pytorch-measured"

# The limits of the grading engine, so that both give a slow cell the same score. After a timeout
# the cell is interrupted and the next one runs.
c.Execute.timeout = 30
c.Execute.interrupt_on_timeout = True
# A kernel warns of its unencrypted loopback at each start, once a submission.
c.Execute.extra_arguments = ["--log-level=ERROR"]

# What is released is generated at that moment: an edition of last week is never handed out.
c.ExchangeFactory.release_assignment = "autograder.nbgrader_bridge.release_steps.ReleaseFromSource"

# Names of learners' files may hold what rewrites a terminal.
c.Application.logging_config = {
    "filters": {"plain": {"()": "autograder.nbgrader_bridge.plain_log.PlainRecords"}},
    "handlers": {"console": {"filters": ["plain"]}},
}

for _folder in reversed(jupyter_config_path()):
    if Path(_folder).resolve() != Path(__file__).resolve().parent:
        load_subconfig("nbgrader_config.py", _folder)  # noqa: F821 - as get_config

# --- what this course cannot do without ---------------------------------------------------------

# Not the current directory: formgrader is started from wherever JupyterLab is.
c.CourseDirectory.root = os.environ.get(
    "PYTORCH_MEASURED_COURSE", str(Path(__file__).resolve().parent)
)
# Not release/, which is committed: nbgrader leaves alone what is there, and enters no assignment
# into the gradebook. Git ignores handout/, and every run makes it anew.
c.CourseDirectory.release_directory = "handout"
c.GenerateAssignment.force = True
# nbgrader's steps, and before the second checksum ours, which folds test cells and deep dives.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "autograder.nbgrader_bridge.release_steps.ForReaders",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# The stub that checks know as "not attempted": nbgrader's default, said here as they rely on it.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}

# In our lessons a cell that was emptied is no answer; nbgrader would ask a person.
c.Autograder.empty_answers = "zero"

# A test cell that a learner deleted is put back, rather than ending the batch.
c.OverwriteCells.add_missing_cells = True

# nbgrader's own pages show every test cell whole: hidden tests, inputs and expected values.
c.GenerateFeedback.exporter_class = "autograder.nbgrader_bridge.feedback_steps.FeedbackExporter"
# One learner's files, which may be anything, are not to end the pages of the class.
c.ExchangeFactory.release_feedback = "autograder.nbgrader_bridge.feedback_release.ReleaseEach"
# A link in a learner's folder would be followed: to the source, or to another learner's work.
c.ExchangeFactory.collect = "autograder.nbgrader_bridge.collecting.CollectPlainFiles"
c.FeedbackExporter.preprocessors = []  # these steps alone, in their order
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "autograder.nbgrader_bridge.feedback_steps.WithholdHiddenTests",
    "autograder.nbgrader_bridge.inert_html.MakeInert",
    "autograder.nbgrader_bridge.feedback_steps.PageStyle",
]
# nbgrader's templates leave the notebook's style sheet out, and with it the form of every table.
# The first line takes their own step away: it would come later and begin anew.
c.CSSHTMLHeaderPreprocessor.enabled = False
c.PageStyle.enabled = True
c.HTMLExporter.preprocessors = [
    "autograder.nbgrader_bridge.inert_html.MakeInert",
    "autograder.nbgrader_bridge.feedback_steps.PageStyle",
]
# A script in an answer, or in what it displays, would run in the browser of whoever marks it. And
# some texts keep nbconvert's own filters busy for hours.
c.HTMLExporter.filters = {
    "ansi2html": "autograder.nbgrader_bridge.inert_html.quick_ansi2html",
    "highlight_code": "autograder.nbgrader_bridge.inert_html.quick_highlight",
    "strip_files_prefix": "autograder.nbgrader_bridge.inert_html.unchanged",
    "markdown2html": "autograder.nbgrader_bridge.inert_html.inert_markdown",
    "clean_html": "autograder.nbgrader_bridge.inert_html.inert_raw",
}
