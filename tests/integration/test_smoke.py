from __future__ import annotations

from howdah import Howdah
from tests.rig.working import working


async def test_a_job_goes_from_enqueue_to_result(app: Howdah) -> None:
    @app.job()
    async def double(x: int) -> int:
        return 2 * x

    async with working(app):
        job = await double.aenqueue(21)
        await job.await_(30)
        assert job.result == 42
