"""Import of optional dependencies, with one error message that says what to install."""

import importlib
from types import ModuleType

from tsadeval.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A missing module inside an installed package is that package's fault, not a missing extra.
        if error.name != module.partition(".")[0]:
            raise
        raise MissingExtraError(
            f"this needs {error.name}, which is not installed: pip install 'tsadeval[{extra}]'"
        ) from None
