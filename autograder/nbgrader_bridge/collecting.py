"""`nbgrader collect`, which takes of a learner's folder in the exchange only what is a plain file.

nbgrader's own (0.9.6) copies what a link leads to: the source with its hidden tests, another
learner's notebook or secret.  A time that is none, in a name or in timestamp.txt, ends the command
or formgrader's list of submissions, for the whole class.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from contextlib import suppress
from datetime import datetime
from functools import partial
from logging import Logger
from pathlib import Path
from typing import Any, BinaryIO

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import parse_utc

from autograder.nbgrader_bridge.exchange import TOKENS
from autograder.regular_files import open_regular

_MOST_FOLDERS = 100  # inside each other
_PATH_NBYTES = 1_000  # of a path below the folder; the system opens 4,096 in all
_NO_NAMES = ("", ".", "..")
_NOT_A_TIME = (ValueError, OverflowError, TypeError)  # all of them come from dateutil


class CollectPlainFiles(ExchangeCollect):
    """nbgrader's own collection, of what is left when links and pipes are taken out."""

    src_records: list[dict[str, Any]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Whose folder it is, and since when; one of no time is older than all others."""
        name = os.path.basename(path)
        about = {"username": name.rsplit("+", 3)[0], "filename": name, "timestamp": datetime.min}
        with suppress(*_NOT_A_TIME):
            about = super()._path_to_record(path)
        return about

    def copy_files(self) -> None:
        """Collect each learner's newest folder; what is none stays where it is."""
        folders = []
        for record in self.src_records:
            path = Path(self.inbound_path, record["filename"])
            if record["username"] in _NO_NAMES or path.is_symlink() or not path.is_dir():
                self.log.warning("%s is not collected: it is no learner's folder", path)
            else:
                folders.append(record)
        self.src_records = folders
        super().copy_files()

    def do_copy(self, src: str, dest: str, log: Logger | None = None) -> None:
        """Copy a learner's folder.

        Args:
            src: The folder in the exchange.
            dest: The one in submitted/, which is not there yet.
            log: Handed on to nbgrader.
        """
        with tempfile.TemporaryDirectory() as room:
            plain = Path(room, "plain")  # `dest` gets its permissions; the room's would be too few
            self._copy_plain(Path(src), plain)
            time = plain / TOKENS[0]
            if time.is_file() and not _is_time(time):
                self.log.warning("%s holds no time and is left out", Path(src, TOKENS[0]))
                time.unlink()
            if self.get_size(plain) > 1000 * self.coursedir.max_dir_size:
                self.log.error("%s is not collected: it is too large", src)
            else:
                super().do_copy(str(plain), dest, log)

    def _copy_plain(self, source: Path, target: Path) -> None:
        """Copy plain files; a learner may exchange any folder or file for a link meanwhile."""
        for place, folders, files, handle in os.fwalk(source, follow_symlinks=False):
            below, inside = Path(place).relative_to(source), partial(os.open, dir_fd=handle)
            (target / below).mkdir()
            if len(below.parts) >= _MOST_FOLDERS or len(os.fsencode(below)) > _PATH_NBYTES:
                self.log.warning("What lies in folders of %s is not collected: too deep", place)
                folders.clear()
            for name in files:
                try:
                    with open(open_regular(Path(name), inside), "rb") as found:
                        self._copy_file(found, target / below / name)
                except OSError as error:
                    shown = Path(place, name)
                    self.log.warning("%s is not collected: %s", shown, error.strerror or error)

    def _copy_file(self, found: BinaryIO, target: Path) -> None:
        """Copy a file, if it is not larger than nbgrader would take it."""
        limit = 1000 * (self.coursedir.max_file_size or math.inf)
        if os.fstat(found.fileno()).st_size > limit:
            raise OSError("it is too large (c.CourseDirectory.max_file_size)")
        with target.open("wb") as copy:
            shutil.copyfileobj(found, copy)


def _is_time(path: Path) -> bool:
    with suppress(*_NOT_A_TIME):
        # As formgrader reads it, and shows it.
        return bool(parse_utc(path.read_text().strip()).isoformat())
    return False
