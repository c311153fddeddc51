"""How long a run takes, how much it does, and what it must at least have survived to count."""

from __future__ import annotations

from dataclasses import dataclass, fields

#: Everything is drained this long after the last fault.
DRAIN_SECONDS = 60.0
#: A worker that has been silent for this long counts as dead.
SILENCE_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Quota:
    """Faults that must have landed. A run with fewer was too easy, and fails."""

    kills_inside_a_handler: int
    stops_past_the_lease: int
    server_crashes: int
    network_faults: int
    commit_replies_dropped: int
    backends_terminated: int
    stale_ends_refused: int
    failovers: int = 0
    rolling_deploys: int = 0
    full_disks: int = 0

    def items(self) -> list[tuple[str, int]]:
        """Name and number of each."""
        return [(field.name, getattr(self, field.name)) for field in fields(self)]


@dataclass(frozen=True, slots=True)
class Tier:
    """One size of run."""

    name: str
    jobs: int
    poisons: int
    #: While faults happen; then everything heals and must be drained within DRAIN_SECONDS.
    seconds: float
    workers: int
    producers: int
    quota: Quota
    #: Whether the machine is the run's alone, so that recovery can be timed. Beside other tests times say nothing.
    timed: bool = False
    #: Of the disk that the server has to itself, where disks are to be full.
    disk_megabytes: int = 0

    @property
    def patience(self) -> float:
        """How long draining may take before it counts as stuck."""
        return DRAIN_SECONDS if self.timed else 4 * DRAIN_SECONDS


TIERS = {
    tier.name: tier
    for tier in (
        Tier("smoke", 1_500, 1, 20, 3, 2, Quota(3, 1, 1, 2, 3, 6, 1)),
        Tier("changes", 4_000, 1, 30, 3, 2, Quota(2, 1, 1, 1, 2, 3, 1, failovers=1, rolling_deploys=1)),
        Tier("disk", 4_000, 1, 30, 3, 2, Quota(2, 1, 1, 1, 2, 3, 1, full_disks=2), disk_megabytes=400),
        Tier("test", 20_000, 5, 130, 4, 2, Quota(20, 10, 2, 10, 20, 50, 10)),
        Tier("night", 300_000, 40, 1_700, 8, 2, Quota(300, 200, 30, 200, 300, 1_000, 200, 3, 2), True),
        Tier("long", 3_000_000, 300, 28_000, 8, 2, Quota(3_000, 1_000, 300, 2_000, 2_000, 10_000, 1_000, 20, 20), True),
    )
}
