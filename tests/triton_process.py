"""Triton's interpreter, which needs no GPU: it is chosen when Triton is imported, so in a process of its own."""

import os
import subprocess
import sys


def interpreted(code):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
