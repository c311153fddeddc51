"""What a program that only enqueues does not load."""

from __future__ import annotations

import subprocess
import sys

LOADED = "import sys, howdah; howdah.Howdah('postgresql:///x'); print(*sorted(sys.modules))"


def test_an_app_that_only_enqueues_loads_no_worker_and_no_server() -> None:
    loaded = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout.split()
    assert "howdah.client.client" in loaded
    assert [
        name for name in loaded if name.startswith(("howdah.worker", "howdah.maintenance", "howdah.embedded"))
    ] == []
