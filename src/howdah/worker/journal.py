"""The worker's log of how jobs end: which job, which attempt, how long, and the kind of error. Never arguments, results
or the text of an error, which may quote them.

Failures are always told. Completions are told one by one while they are few; of a flood, once a second, only how many.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence

from howdah.worker.held import Held
from howdah.worker.store import Completion, Ended, Ending

logger = logging.getLogger("howdah.worker")
_FEW_PER_SECOND = 10


class Journal:
    """Writes the log lines of ended jobs."""

    def __init__(self) -> None:
        self._second = 0
        self._told = 0
        self._untold = 0

    def completed(self, done: Sequence[Completion], held: Iterable[Held]) -> None:
        """These were acknowledged as completed; among the held ones are theirs."""
        if not done or not logger.isEnabledFor(logging.INFO):
            return
        self._turn_page()
        few = done[: max(0, _FEW_PER_SECOND - self._told)]
        self._told += len(few)
        self._untold += len(done) - len(few)
        if few:
            by_id = {one.job.id: one for one in held}
            for completion in few:
                about = by_id[completion.id].about()
                logger.info("job completed", extra={**about, "seconds": round(completion.ran, 3)})

    def ended(self, endings: Iterable[Ending], ended: Iterable[Ended], held: Iterable[Held]) -> None:
        """These were acknowledged as ended otherwise."""
        became = {end.id: end for end in ended}
        by_id = {one.job.id: one for one in held}
        for ending in endings:
            about, end = by_id.get(ending.id), became.get(ending.id)
            if about is None or end is None:
                continue
            extra = {**about.about(), "error": about.error_kind, "seconds": round(about.ran(), 3)}
            if end.status == "failed":
                logger.error("job failed", extra=extra)
            elif end.status == "cancelled":
                logger.info("job cancelled", extra=extra)
            elif ending.outcome in ("retry", "death"):
                extra["in_seconds"] = _rounded(end.run_in)
                logger.warning("attempt failed, will be tried again", extra=extra)
            else:
                logger.info("job %sd", ending.outcome, extra=extra)

    def _turn_page(self) -> None:
        second = int(time.monotonic())
        if second != self._second:
            if self._untold:
                logger.info("more jobs completed", extra={"count": self._untold})
            self._second, self._told, self._untold = second, 0, 0


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(max(0.0, seconds), 1)
