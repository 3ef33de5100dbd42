"""nbgrader's exchange commands, run on a course directory in our configuration."""

from __future__ import annotations

from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

ROOT = Path(__file__).parents[3]
SLUG = "01-tiny"


def run_command(name: str, root: Path) -> None:
    """Run a command, `Collect` or the like, for the assignment in the course directory `root`."""
    factory = PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config().ExchangeFactory
    config = Config(ExchangeFactory=factory)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.course_id = "course"
    config.CourseDirectory.assignment_id = SLUG
    config.CourseDirectory.max_file_size = 100
    config.Exchange.root = str(root / "exchange")
    command = getattr(ExchangeFactory(config=config), name)
    command(coursedir=CourseDirectory(config=config), config=config).start()
