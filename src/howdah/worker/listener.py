"""Hears the doorbell. A hint only: whoever misses it is found by polling."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import howdah.db.notices as notices
from howdah.db.link import Link
from howdah.runtime.backoff import Pauses

logger = logging.getLogger("howdah.worker")
#: A connection that died without a word is found out within this time.
_PROBE_SECONDS = 20.0


async def listen(link: Link, ring: Callable[[], None], trust: Callable[[bool], None]) -> None:
    """Ring at every notification, until cancelled; listens anew on every new connection, then rings once: what was
    enqueued in between was announced to nobody. `trust` is told whether the bell can be relied upon."""
    pauses = Pauses(first=0.2, longest=10)
    while True:
        try:
            async for _ in notices.heard(link, _PROBE_SECONDS, ring, trust):
                pauses.reset()
                ring()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # The link tells an outage once; without the bell the worker polls.
            logger.debug("listener failed: %s", type(error).__name__)
            trust(False)
            await link.close()
        await asyncio.sleep(pauses.next())
