"""What this process takes of its machine."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

_STATM = Path("/proc/self/statm")
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: As near as importing this is to the start.
STARTED_AT = time.time()


def resident_memory() -> int:
    """Bytes in memory now; where the system does not tell, the most there ever were."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def cpu_seconds() -> float:
    """Processor time so far, of all threads."""
    return time.process_time()
