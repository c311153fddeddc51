"""The two lines at the top: where this is, and how the queue does as a whole."""

from __future__ import annotations

from rich.text import Text

from howdah.model.status import Status
from howdah.top.cells import rate, sparkline, visible
from howdah.top.filtering import Wish
from howdah.top.reading import Snapshot


def heading(snapshot: Snapshot, place: str, wish: Wish, read_only: bool) -> Text:
    """Both lines."""
    first = Text.assemble(("howdah top", "bold"), ("  " + visible(place), "dim"))
    if read_only:
        first.append("  read-only", "yellow")
    if wish.text:
        first.append(f"  filter: {visible(wish.text)}", "bold yellow")
    waiting = sum(depth.ready for depth in snapshot.depths)
    running = sum(job.status is Status.RUNNING for job in snapshot.running)
    alive = sum(worker.alive for worker in snapshot.workers)
    ended = sum(share.work.ended for share in snapshot.shares)
    failed = sum(share.work.failed for share in snapshot.shares)
    figures = (
        ("waiting", f"{waiting:,}", "bold"),
        (
            "running",
            f"{max(running, sum(worker.load.get('running', 0) for worker in snapshot.workers)):,}",
            "bold cyan",
        ),
        ("failed", f"{failed:,}", "bold red" if failed else "bold"),
        ("workers", f"{alive:,}", "bold" if alive else "bold red"),
        ("done", rate(ended / snapshot.share_seconds), "bold green"),
    )
    second = Text("   ").join(Text.assemble((f"{name} ", "dim"), (value, style)) for name, value, style in figures)
    if any(snapshot.chart):
        second.append("  " + sparkline(snapshot.chart), "green")
    return Text("\n").join((first, second))
