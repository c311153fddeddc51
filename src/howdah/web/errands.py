"""Bulk operations that this process carries out. They live in the database: if the process dies, anybody goes on."""

from __future__ import annotations

import asyncio
import logging
from uuid import UUID

from howdah.admin.bulk import carry_out_async
from howdah.db.sessions import Sessions
from howdah.model.errors import HowdahError

logger = logging.getLogger("howdah.dashboard")
_PATIENCE = 5.0


class Errands:
    """The operations under way here."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._tasks: dict[UUID, asyncio.Task[None]] = {}

    def start(self, operation_id: UUID) -> None:
        """Carry it out in the background, unless that is being done already."""
        task = self._tasks.get(operation_id)
        if task is None or task.done():
            self._tasks[operation_id] = asyncio.create_task(self._carry_out(operation_id))

    def is_under_way(self, operation_id: UUID) -> bool:
        """Whether this process is at it."""
        return operation_id in self._tasks

    async def stop(self) -> None:
        """Leave them where they are."""
        tasks = [task for task in self._tasks.values() if task.get_loop() is asyncio.get_running_loop()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, operation_id: UUID) -> None:
        try:
            while True:
                try:
                    await carry_out_async(self._sessions, operation_id)
                    return
                except HowdahError as error:
                    # The database is away: what was done is on record, and the rest waits.
                    logger.warning("bulk operation %s waits: %s", operation_id, error)
                    await asyncio.sleep(_PATIENCE)
        finally:
            self._tasks.pop(operation_id, None)
