"""What a call would have lost was kept before it ran; this room lists it, gives it back, and throws it away in time.

::

    hook, before a call  --native keep-->  STATE/undo/<repository>/<id>/      (`restoring` too: what an undo replaces)
    keeps.kept           --> the kept calls of a repository
    restoring.undo       --> files, moves, references, stashes, index as they were; what stands there is kept first
    retention.tidy       --> links become copies, pins become a pack, leftovers and what is too old or too much go

`config` has the settings, `references` what is asked of git. Importing this package imports nothing.
"""

from __future__ import annotations

from tipstaff.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
