"""What the reader knows of each job that somebody follows: its mark, how it stood, and how fast it went."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from howdah.model.status import Status
from howdah.model.update import Update, time_left
from howdah.watch.store import Look
from howdah.watch.subscription import Subscription


@dataclass(slots=True)
class Track:
    """One job. `mark`: None asks for it at the next look, changed or not, because somebody has not been told yet."""

    followers: set[Subscription]
    mark: int | None = None
    look: Look | None = None
    #: Which progress of which run was reported, and how long it had run by then.
    reported: tuple[datetime | None, int] | None = None
    elapsed: timedelta = timedelta(0)

    def noted(self, look: Look) -> Look:
        """The look with the times that follow from this one and those before."""
        if look.update is None:
            return look
        update = look.update
        elapsed = _elapsed(update, look.at)
        if self.reported != (update.started_at, update.progress) and elapsed is not None:
            self.reported, self.elapsed = (update.started_at, update.progress), elapsed
        eta = None
        if elapsed is not None and update.status is Status.RUNNING:
            eta = time_left(update.progress, self.elapsed, elapsed - self.elapsed)
        return replace(look, update=replace(update, elapsed=elapsed, eta=eta))


class Tracks:
    """All jobs that somebody follows."""

    def __init__(self) -> None:
        self._tracks: dict[UUID, Track] = {}
        self._followed: dict[Subscription, set[UUID]] = {}
        self._behind: set[UUID] = set()

    def __getitem__(self, job_id: UUID) -> Track:
        return self._tracks[job_id]

    def __len__(self) -> int:
        return len(self._tracks)

    def follow(self, subscriptions: list[Subscription]) -> None:
        """These are the watchers now, each with the jobs that it follows now."""
        for gone in self._followed.keys() - set(subscriptions):
            self._let_go(gone, self._followed.pop(gone))
        for subscription in subscriptions:
            before = self._followed.get(subscription, set())
            now = subscription.follows.keys()
            if before == now:
                continue
            for job_id in now - before:
                track = self._tracks.setdefault(job_id, Track(set()))
                track.followers.add(subscription)
                track.mark = None
            self._let_go(subscription, before - now)
            self._followed[subscription] = set(now)

    def marks(self) -> dict[UUID, int | None]:
        """What was seen of every job."""
        return {job_id: track.mark for job_id, track in self._tracks.items()}

    def behind(self) -> list[Look]:
        """Jobs whose events somebody has not been told yet, and now has room for."""
        looks = [self._tracks[job_id].look for job_id in self._behind if job_id in self._tracks]
        return [look for look in looks if look is not None and self.after(look) is not None]

    def after(self, look: Look) -> int | None:
        """After which event somebody lacks the job's next ones; None: nobody does."""
        return min(
            (n for one in self._tracks[look.job_id].followers if (n := one.lacks(look)) is not None), default=None
        )

    def settle(self, look: Look) -> None:
        """Everybody has been told of this look."""
        track = self._tracks[look.job_id]
        track.mark, track.look = look.mark, look
        if any(one.is_behind(look) for one in track.followers):
            self._behind.add(look.job_id)
        else:
            self._behind.discard(look.job_id)

    def _let_go(self, subscription: Subscription, job_ids: set[UUID]) -> None:
        for job_id in job_ids:
            track = self._tracks[job_id]
            track.followers.discard(subscription)
            if not track.followers:
                del self._tracks[job_id]
                self._behind.discard(job_id)


def _elapsed(update: Update, now: datetime) -> timedelta | None:
    if update.started_at is None or update.status is Status.PENDING:
        return None
    return max(timedelta(0), (update.completed_at or now) - update.started_at)
