"""Run the command line: `python -m tsadeval` is the command `tsadeval`."""

import os
import sys

# Python puts the current folder first, where a stray sklearn.py would replace the package.
if sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from tsadeval.cli import main

if __name__ == "__main__":
    main()
