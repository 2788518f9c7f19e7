"""Give a built wheel the widest platform tag that its symbols allow:  python tests/repair_wheel.py FROM TO

On Linux auditwheel does that (manylinux or musllinux); elsewhere the wheel is copied as it is.
"""

import shutil
import subprocess
import sys
from pathlib import Path


def main(source: str, target: str) -> None:
    (wheel,) = Path(source).glob("*.whl")
    if sys.platform == "linux":
        subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", target, str(wheel)], check=True)
    else:
        shutil.copy(wheel, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
