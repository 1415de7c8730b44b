"""Settings for the whole suite: a test fails on what is wrong, never because the machine is busy or by luck."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_NOT_TIMED = (HealthCheck.too_slow,)
# The same examples every time: a change is judged by what it does. `make properties` draws new ones.
settings.register_profile("suite", deadline=None, suppress_health_check=_NOT_TIMED, derandomize=True)
settings.register_profile("search", deadline=None, suppress_health_check=_NOT_TIMED, print_blob=True)
settings.load_profile("suite")
