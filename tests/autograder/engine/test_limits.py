"""What a submission may take counts for it alone."""

from __future__ import annotations

import subprocess
import sys

from autograder.engine.limits import Limits

CROWDED = """
import resource, sys, threading
from autograder.engine import limits
from autograder.engine.forkserver import process_usage

enough = threading.Event()
others = [threading.Thread(target=enough.wait) for _ in range(100)]
for one in others:
    one.start()
beside = process_usage.threads_of_user()
limits.apply(limits.Limits(), beside=beside)
print(beside, resource.getrlimit(resource.RLIMIT_NPROC)[0])
more = threading.Thread(target=enough.wait)
more.start()
enough.set()
"""


def test_what_else_the_user_runs_takes_nothing_from_a_submission() -> None:
    done = subprocess.run([sys.executable, "-c", CROWDED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    beside, most = map(int, done.stdout.split())
    assert beside > 100
    assert most == beside + Limits().processes
