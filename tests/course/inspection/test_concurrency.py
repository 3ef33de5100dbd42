"""Threads that start while they are counted run, whoever listens."""

from __future__ import annotations

import subprocess
import sys


def test_no_thread_is_lost_while_an_audit_hook_runs() -> None:
    script = """
import sys, threading, time
from course.inspection.concurrency import counting_started

def slow(event, arguments):
    if event.startswith(("sys.", "_thread.")):
        time.sleep(0.002)

sys.addaudithook(slow)
ran = []
with counting_started() as started:
    threads = [threading.Thread(target=ran.append, args=(n,)) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(len(ran), started.count)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["40", "40"], done.stderr
