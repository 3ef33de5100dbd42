"""Scripts that run with a Python of their own."""

import subprocess

import pytest

from course.lessons.devices import run_script


def test_a_script_is_run_as_a_program() -> None:
    assert run_script("if __name__ == '__main__':\n    print('é', 1 + 1)") == "é 2\n"


def test_of_a_failed_one_the_error_is_told_behind_what_it_printed() -> None:
    assert run_script("print('so far')\n1 / 0") == "so far\nZeroDivisionError: division by zero"


def test_one_that_takes_too_long_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_script("import time; time.sleep(60)", timeout=0.5)
