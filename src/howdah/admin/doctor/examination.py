"""All checks, in the order in which a person would ask. Each fails alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from howdah.admin.doctor import fleet, jobs, server, upkeep
from howdah.admin.doctor.finding import Finding, Level, Verdict, fail, warn
from howdah.admin.doctor.limits import Limits
from howdah.admin.doctor.patient import Patient
from howdah.db.bounded import BoundedSession
from howdah.db.catalog import Catalog
from howdah.model.errors import HowdahError, TookTooLong


@dataclass(frozen=True, slots=True)
class Check:
    """A name, by which scripts know it, and the question behind it."""

    name: str
    examine: Callable[[Patient], Verdict]
    needs_schema: bool = True


SCHEMA = "schema"
CHECKS = (
    Check("connection", server.connection, needs_schema=False),
    Check("server", server.server, needs_schema=False),
    Check(SCHEMA, server.schema, needs_schema=False),
    Check("autovacuum", server.autovacuum, needs_schema=False),
    Check("durability", server.durability, needs_schema=False),
    Check("notifications", server.notifications),
    Check("notification-queue", server.notification_queue),
    Check("roles", server.roles),
    Check("snapshots", upkeep.oldest_snapshot, needs_schema=False),
    Check("idle-transactions", upkeep.idle_transactions, needs_schema=False),
    Check("transaction-ids", upkeep.transaction_ids, needs_schema=False),
    Check("dead-rows", upkeep.dead_rows),
    Check("partitions", upkeep.partitions),
    Check("default-partition", upkeep.default_partition),
    Check("workers", fleet.workers),
    Check("heartbeats", fleet.heartbeats),
    Check("unserved-types", fleet.unserved_types),
    Check("unserved-queues", fleet.unserved_queues),
    Check("pauses", fleet.pauses),
    Check("plain-claims", jobs.plain_claims),
    Check("stuck-jobs", jobs.stuck_jobs),
    Check("used-up-jobs", jobs.used_up_jobs),
    Check("lost-jobs", jobs.lost_jobs),
    Check("overdue-jobs", jobs.overdue_jobs),
)


def examine(url: str, catalog: Catalog, url_source: str, limits: Limits | None = None) -> list[Finding]:
    """Every check's finding. Raises DatabaseUnavailable when there is no database to examine. Where the schema does not
    fit, the checks of its tables are left out: they could only say the same again."""
    limits = limits or Limits()
    session = BoundedSession(url, catalog, "doctor", limits.check_time)
    patient = Patient(session, url_source, limits)
    findings: list[Finding] = []
    try:
        session.place()
        for check in CHECKS:
            if not (check.needs_schema and _is_unfit(findings)):
                findings.append(_find(check, patient))
    finally:
        session.close()
    return findings


def _is_unfit(findings: list[Finding]) -> bool:
    return any(finding.check == SCHEMA and finding.level is Level.FAIL for finding in findings)


def _find(check: Check, patient: Patient) -> Finding:
    try:
        verdict = check.examine(patient)
    except TookTooLong:
        verdict = warn("took too long", "ask again when the server is less busy; a lock on a table also makes it wait")
    except HowdahError as error:
        verdict = fail(f"could not be examined: {error}", "put that right and ask again")
    except Exception as error:
        # A mistake in one check must not hide what the others know.
        verdict = fail(f"the check itself broke: {type(error).__name__}: {error}", "please report it")
    return Finding(check.name, verdict.level, verdict.message, verdict.next_step)
