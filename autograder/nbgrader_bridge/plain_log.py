"""What nbgrader's commands tell a terminal: names of learners' files without control characters."""

from __future__ import annotations

import logging
from contextlib import suppress

from autograder.console import plain_text


class PlainRecords(logging.Filter):
    """Makes the text of each record such as `autograder.console.say` prints.

    nbgrader_config.py puts it before the first handler; those after it get the same records.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place, and let it pass."""
        with suppress(TypeError, ValueError):  # no text comes of it, as the handler will report
            record.msg, record.args = plain_text(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            text = logging.Formatter().formatException(record.exc_info)
            record.exc_text = plain_text(text)
        return True
