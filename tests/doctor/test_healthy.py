from __future__ import annotations

import asyncio
from datetime import timedelta

from howdah import Howdah
from howdah.admin.doctor.examination import CHECKS
from tests.doctor.conftest import Diagnose
from tests.rig.working import working


async def test_a_database_at_work_is_well(app: Howdah, diagnose: Diagnose) -> None:
    begun, enough = asyncio.Event(), asyncio.Event()

    @app.job()
    async def quick() -> None:
        pass

    @app.job()
    async def lasting() -> None:
        begun.set()
        await enough.wait()

    async with working(app) as worker:
        done = await quick.aenqueue()
        await quick.using(delay=timedelta(hours=1)).aenqueue()
        await lasting.aenqueue()
        await done.await_(30)
        await begun.wait()
        diagnosis = await asyncio.to_thread(diagnose)
        enough.set()

    assert diagnosis.troubled == set()
    assert [finding.check for finding in diagnosis.findings] == [check.name for check in CHECKS]
    assert worker.worker_id in diagnosis["workers"].message


def test_a_database_without_workers_and_jobs_is_well(diagnose: Diagnose) -> None:
    assert diagnose().troubled == set()
