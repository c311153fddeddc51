"""The machines find mistakes: each of these is made in a function of the database, and must be noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis.stateful import RuleBasedStateMachine
from psycopg.errors import LockNotAvailable

from tests.model import interleaved_machine, strict_machine
from tests.model.running import run_steps, steps_of
from tests.model.statements import Sql, ask

#: A machine that needs more than this finds nothing.
BUDGET = 6000


@dataclass(frozen=True)
class Mistake:
    """What a function says, and what it would say if somebody had been careless."""

    name: str
    function: str
    right: str
    wrong: str


STRICT = [
    Mistake("a late completion counts", "complete_jobs", "AND j.id = t.id AND j.lease = t.lease", "AND j.id = t.id"),
    Mistake("a late report counts", "report_jobs", "AND j.lease = t.lease ", ""),
    Mistake("a completed job can be failed", "finish_jobs", "AND j.status IN ('claimed', 'running')", ""),
    Mistake("rescue hears no heartbeat", "rescue_jobs", "w.heartbeat_at < clock_timestamp() - w.silence AND ", ""),
    Mistake("a release is charged", "finish_jobs", "t.outcome IN ('snooze', 'release')", "t.outcome = 'snooze'"),
    Mistake("a changed priority leaves its place behind", "jobs_updated", "PERFORM howdah.leave_line(OLD);", ""),
    Mistake("what comes back late is not written down", "join_line", "INSERT INTO howdah.late", "INSERT INTO void"),
    Mistake("the far mark runs ahead", "look", "least(h.created_at, v_settled)", "v_settled"),
    Mistake("pauses are not heeded", "open_lanes", "WHERE (p.kind", "WHERE false AND (p.kind"),
]
INTERLEAVED = [
    Mistake("a claim from marks asks no ledger", "claim_from_marks", "AND j.status = 'pending' ", ""),
    Mistake("a place goes although its job is locked", "take_places", "WHERE j.held OR NOT", "WHERE true OR NOT"),
]


def plant(sql: Sql, mistake: Mistake) -> None:
    """Replace the function by a careless one."""
    sql.execute("CREATE TABLE IF NOT EXISTS howdah.void (LIKE howdah.late INCLUDING DEFAULTS)")
    where = "proname = %s AND pronamespace = 'howdah'::regnamespace"
    text = ask(sql, f"SELECT pg_get_functiondef(oid) FROM pg_proc WHERE {where}", mistake.function)
    text = text.replace('"howdah".', "howdah.")
    assert mistake.right in text, f"{mistake.function} no longer says {mistake.right!r}"
    careless = text.replace(mistake.right, mistake.wrong)
    sql.execute(careless.replace("INSERT INTO void", "INSERT INTO howdah.void").encode())


@pytest.mark.parametrize("mistake", [*STRICT, *INTERLEAVED], ids=lambda mistake: mistake.name)
def test_a_planted_mistake_is_found(links: Sequence[Sql], mistake: Mistake) -> None:
    machine: type[RuleBasedStateMachine] = (
        interleaved_machine.bound(links) if mistake in INTERLEAVED else strict_machine.bound(links)
    )
    plant(links[0], mistake)
    with pytest.raises((AssertionError, LockNotAvailable)):
        run_steps(machine, BUDGET)
    print(f"found after {steps_of(machine)} steps: {mistake.name}")
