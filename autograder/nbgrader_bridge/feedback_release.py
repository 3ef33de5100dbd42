"""`nbgrader release_feedback`, where the files of one learner affect only that learner.

nbgrader's own (0.9.6) ends at the first page without a secret that can be read, and at the first
folder whose name looks like a page.
"""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from autograder.console import quantity
from autograder.nbgrader_bridge.exchange import put_tokens


class ReleaseEach(ExchangeReleaseFeedback):
    """nbgrader's own release, for one learner after the other."""

    src_path: str

    def copy_files(self) -> None:
        """Hand out the pages of each learner; name those whose pages cannot be."""
        everybody, failed = self.src_path, []
        for folder in sorted(glob.glob(everybody)):
            self.src_path = glob.escape(folder)
            try:
                put_tokens(Path(folder), Path(folder))
                super().copy_files()
            except (OSError, ValueError) as error:
                failed.append(folder)
                self.log.error("The feedback in %s is not released: %s", folder, error)
        self.src_path = everybody
        if failed:
            self.fail(f"{quantity(len(failed), 'learner')} got no feedback, the others did.")
