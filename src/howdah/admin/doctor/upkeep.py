"""Checks of what makes a queue on PostgreSQL slow with time: snapshots, dead rows, transaction ids, partitions."""

from __future__ import annotations

from collections.abc import Sequence

from howdah.admin.doctor import store
from howdah.admin.doctor.finding import Level, Verdict, fail, ok, warn
from howdah.admin.doctor.limits import Limits
from howdah.admin.doctor.patient import Patient
from howdah.admin.doctor.wording import counted, listed, span


def oldest_snapshot(patient: Patient) -> Verdict:
    """Nobody keeps vacuum from removing dead rows for long."""
    return judge_snapshots(
        patient.ask(store.list_snapshots()), patient.ask(store.count_hidden_sessions()), patient.limits
    )


def judge_snapshots(found: Sequence[store.Snapshot], hidden: int, limits: Limits) -> Verdict:
    """Apart from the question, because a replication slot that holds a snapshot needs a standby."""
    unseen = (
        f" ({counted(hidden, 'session')} of other roles not visible: grant pg_monitor to see them)" if hidden else ""
    )
    graded = [(snapshot, _grade(snapshot, limits)) for snapshot in found]
    for level, verdict in ((Level.FAIL, fail), (Level.WARN, warn)):
        worst = [snapshot for snapshot, grade in graded if grade is level]
        if worst:
            return verdict(
                "vacuum can remove nothing newer than: " + listed([_describe(snapshot) for snapshot in worst]) + unseen,
                _how_to_release(worst[0]),
            )
    if not found:
        return ok(f"nobody holds one{unseen}")
    return ok(f"the oldest: {_describe(found[0])}{unseen}")


def _grade(snapshot: store.Snapshot, limits: Limits) -> Level:
    if snapshot.held is not None:
        levels = (
            (snapshot.held > limits.snapshot_fail, Level.FAIL),
            (snapshot.held > limits.snapshot_warn, Level.WARN),
        )
    else:
        age = snapshot.transactions
        levels = ((age > limits.slot_fail, Level.FAIL), (age > limits.slot_warn, Level.WARN))
    return next((level for reached, level in levels if reached), Level.OK)


def _describe(snapshot: store.Snapshot) -> str:
    held = f"for {span(snapshot.held)}, " if snapshot.held is not None else ""
    age = counted(snapshot.transactions, "transaction")
    return f"{snapshot.kind} {snapshot.name} ({snapshot.detail}), {held}{age} old"


def _how_to_release(snapshot: store.Snapshot) -> str:
    if snapshot.kind == "session":
        return f"end it in its program, or call pg_terminate_backend({snapshot.name})"
    if snapshot.kind == "prepared transaction":
        return f"commit or roll back the prepared transaction '{snapshot.name}'"
    return f"let its standby catch up, or call pg_drop_replication_slot('{snapshot.name}')"


def idle_transactions(patient: Patient) -> Verdict:
    """Nobody has opened a transaction and gone away: its locks stop partitions from being made and dropped."""
    limit = patient.limits.idle_transaction
    found = patient.ask(store.list_idle_transactions(limit))
    if not found:
        return ok(f"none idle for more than {span(limit)}")
    sessions = listed([f"session {idle.pid} ({idle.detail}) for {span(idle.idle)}" for idle in found])
    return warn(
        f"{sessions} idle in a transaction",
        f"end it in its program, or call pg_terminate_backend({found[0].pid}); see idle_in_transaction_session_timeout",
    )


def dead_rows(patient: Patient) -> Verdict:
    """Vacuum keeps up with the tables that change most."""
    limits = patient.limits
    found = patient.ask(store.read_dead_rows())
    behind = [
        table
        for table in found
        if table.dead > limits.dead_rows
        and table.dead > limits.dead_share * table.live
        and (table.since_vacuum is None or table.since_vacuum > limits.unvacuumed)
    ]
    if not behind:
        most = max(found, key=lambda table: table.dead)
        return ok(f"at most {counted(most.dead, 'dead row')}, in {most.table}")
    tables = listed([f"{table.table} has {table.dead:,} dead to {table.live:,} live rows" for table in behind])
    return warn(
        tables + "; claims read through the dead ones",
        f"vacuum {behind[0].table}; if that removes little, see the check `snapshots`, else tune autovacuum",
    )


def transaction_ids(patient: Patient) -> Verdict:
    """The server freezes old transaction ids in time."""
    found = patient.ask(store.read_transaction_age())
    message = f"oldest in database {found.database}: {found.age:,} transactions; freezing starts at {found.freeze_at:,}"
    step = f"vacuum with freeze in database {found.database}, after ending old snapshots and prepared transactions"
    if found.age > patient.limits.transaction_age:
        return fail(f"{message}; the server stops writing at about 2.1 billion", step)
    if found.age > patient.limits.transaction_age_share * found.freeze_at:
        return warn(f"{message}: it is behind", step)
    return ok(message)


def partitions(patient: Patient) -> Verdict:
    """Jobs made now, and in the next stretch of time, have a partition of their own."""
    found = patient.ask(store.read_partitions())
    until = (
        f"partitions reach until {found.end:%Y-%m-%d %H:%M %Z}" if found.end is not None else "there are no partitions"
    )
    step = "run a worker (each tends partitions every minute), or call create_next_partition() until it says false"
    if not found.covers_now:
        return fail(f"none covers this moment: new jobs go to the default partition; {until}", step)
    if not found.covers_next:
        return warn(f"none covers {found.next_at:%Y-%m-%d %H:%M %Z}; {until}", step)
    return ok(until)


def default_partition(patient: Patient) -> Verdict:
    """Few jobs lie outside the dated partitions: those are deleted one by one instead of dropped whole."""
    limit = patient.limits.default_rows
    rows = patient.ask(store.count_default_rows(limit))
    if rows >= limit:
        return warn(
            f"jobs_default holds {counted(rows, 'job', limit)}, which cost more to keep and to remove",
            "use time-ordered ids (UUID version 7, or leave the id to Howdah); see also the check `partitions`",
        )
    return ok(f"holds {counted(rows, 'job')}")
