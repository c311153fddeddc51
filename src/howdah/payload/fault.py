"""What is wrong with a value, and where in the value it is."""

from __future__ import annotations

Step = str | int

# A self-containing list is refused at the depth limit; its whole path would say nothing more than its start.
_SHOWN_STEPS = 12


class Fault(Exception):
    """A value that cannot be stored; its path grows by a step in each container it leaves."""

    def __init__(self, reason: str, *, wrong_type: bool = False, where: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.wrong_type = wrong_type
        self.where = where
        self.steps: list[Step] = []

    def inside(self, step: Step) -> Fault:
        self.steps.append(step)
        return self

    def path(self) -> str:
        """Where the value is; `where` is what another library said about the last part of the way."""
        return path_text(self.steps[::-1]) + self.where


def path_text(steps: list[Step]) -> str:
    """The steps as one would write them in Python: items[3].price."""
    shown = "".join(map(_step_text, steps[:_SHOWN_STEPS]))
    if len(steps) > _SHOWN_STEPS:
        shown += "…"
    return shown.removeprefix(".") or "the value"


def _step_text(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    # Keys come from users: one that is no plain name, or is very long, is quoted and cut.
    return f".{step}" if step.isidentifier() and len(step) <= 80 else f"[{step[:80]!r}]"
