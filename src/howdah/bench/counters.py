"""What the server counts while something is measured, and what that is per job."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Counters:
    """One row of bench/read_counters.sql, or the difference between two."""

    wal_bytes: int
    commits: int
    writing_transactions: int
    index_inserts: int
    updates: int
    hot_updates: int

    def since(self, before: Counters) -> Counters:
        """What was counted in between."""
        return Counters(*(now - then for now, then in zip(astuple(self), astuple(before), strict=True)))

    def per_job(self, jobs: int) -> dict[str, float | None]:
        """The figures of a scenario. Without any update there is no ratio of them."""
        return {
            "wal_bytes_per_job": self.wal_bytes / jobs,
            "commits_per_job": self.commits / jobs,
            "index_inserts_per_job": self.index_inserts / jobs,
            "hot_ratio": self.hot_updates / self.updates if self.updates else None,
        }
