"""Settings of the whole test run."""

from hypothesis import HealthCheck, settings

from strategies import FACTOR

# Wide machines differ in speed, so no deadline; derandomised, so that a failure is the same everywhere. A thorough run
# looks at other examples each time.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=300 * FACTOR,
    derandomize=FACTOR == 1,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")

# The scripts that made the golden numbers need the packages those came from.
collect_ignore_glob = ["golden/make_*.py"]
