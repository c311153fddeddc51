"""Who a worker is."""

from __future__ import annotations

from howdah import Howdah, WorkerSettings
from howdah.worker.worker import Worker


def test_a_worker_started_again_under_the_same_name_is_another() -> None:
    """Under one id the heartbeat of the second would speak for the jobs of the first, which is dead."""
    app = Howdah("postgresql:///nowhere")

    @app.job()
    def work() -> None: ...

    made = [
        Worker("postgresql:///nowhere", app.catalog, app.handlers, WorkerSettings(name=name), None)
        for name in ("web", "web", None, None)
    ]
    assert len({worker.worker_id for worker in made}) == 4
    assert all(worker.worker_id.startswith("web:") for worker in made[:2])
