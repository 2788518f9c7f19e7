"""Settings of the whole test run."""

import os

from hypothesis import HealthCheck, settings

# Wide machines differ in speed, so no deadline; derandomised, so that a failure is the same everywhere.
settings.register_profile(
    "default", deadline=None, max_examples=300, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=5000, derandomize=False)
settings.load_profile(os.environ.get("TSADEVAL_HYPOTHESIS", "default"))

# The scripts that made the golden numbers need the packages those came from.
collect_ignore_glob = ["golden/make_*.py"]
