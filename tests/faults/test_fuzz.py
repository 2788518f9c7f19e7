"""Some seconds of what `make fuzz` does for an hour."""

import os
import subprocess
import sys
from pathlib import Path


def test_random_input_gives_a_result_or_one_clear_line():
    seconds = os.environ.get("TSADEVAL_FUZZ_SECONDS", "10")
    command = [sys.executable, Path(__file__).with_name("fuzz.py"), seconds]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.endswith(" trials, 0 findings\n")
