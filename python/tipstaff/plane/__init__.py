"""The plane: rules, gates, ledger, evaluators and optimizer of one repository as one object.

One per process, used by any number of threads. The rules, the retriever and the gates are replaced as one tuple when
they change, so a call reads one attribute and takes no lock. Read `records`, `rules`, `open_run`, `shared`,
`synchronous`, then `control_plane`.

Source: ADR-G001.
"""

from __future__ import annotations

from tipstaff.lazy import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.plane.control_plane import GuidanceControlPlane
    from tipstaff.plane.records import PlaneConfig, PlaneMetrics, PlaneStatus, SuspendedRun

_HOMES = {
    "GuidanceControlPlane": "tipstaff.plane.control_plane",
    "PlaneConfig": "tipstaff.plane.records",
    "PlaneMetrics": "tipstaff.plane.records",
    "PlaneStatus": "tipstaff.plane.records",
    "SuspendedRun": "tipstaff.plane.records",
}

__all__ = ["GuidanceControlPlane", "PlaneConfig", "PlaneMetrics", "PlaneStatus", "SuspendedRun"]

__getattr__ = loader(__name__, _HOMES)
