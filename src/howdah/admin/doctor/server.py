"""Checks of the server and of the way to it."""

from __future__ import annotations

from importlib.metadata import version

from howdah.admin.doctor import store
from howdah.admin.doctor.finding import Verdict, fail, ok, warn
from howdah.admin.doctor.patient import Patient
from howdah.admin.doctor.wording import listed, span
from howdah.db.bell import bell_is_heard

OLDEST_SERVER = 140000


def connection(patient: Patient) -> Verdict:
    """Where the URL came from, where it leads, and how far away that is."""
    round_trip = patient.session.round_trip()
    message = f"{patient.session.place()}, URL from {patient.url_source}, round trip {span(round_trip)}"
    if round_trip > patient.limits.round_trip:
        return warn(
            message, "run workers and clients nearer to the database: each claim and acknowledgement waits so long"
        )
    return ok(message)


def server(patient: Patient) -> Verdict:
    """A version that Howdah supports, taking writes."""
    return judge_server(patient.ask(store.read_server()))


def judge_server(found: store.Server) -> Verdict:
    """Apart from the question, because few have an ancient server or a standby at hand to ask."""
    if found.number < OLDEST_SERVER:
        return fail(f"PostgreSQL {found.version} is too old", "upgrade to PostgreSQL 14 or newer")
    if found.in_recovery:
        return fail(f"PostgreSQL {found.version} is a standby and takes no writes", "use the primary's URL")
    if found.read_only:
        return fail(
            f"PostgreSQL {found.version}: transactions are read-only by default",
            "set default_transaction_read_only = off for this role and database, or use the primary's URL",
        )
    return ok(f"PostgreSQL {found.version}, takes writes")


def schema(patient: Patient) -> Verdict:
    """Howdah's tables are there and of the version that this code is written for."""
    catalog = patient.session.catalog
    code = f"howdah {version('howdah')}"
    found = patient.ask(store.read_version())
    if found is None:
        return fail(f"no Howdah tables in schema {catalog.schema!r}", "run `howdah migrate`, or name another --schema")
    at = f"schema version {found.number}"
    if found.number < catalog.version:
        return fail(f"{at} is too old: {code} needs {catalog.version}", "run `howdah migrate`")
    if not found.serves(catalog.version):
        return fail(f"{at} is too new: {code} knows {catalog.version}", "upgrade the howdah package here")
    if found.number > catalog.version:
        return ok(
            f"{code}, schema {catalog.schema!r} at version {found.number}, newer than this code, which can use it"
        )
    return ok(f"{code}, schema {catalog.schema!r} at version {found.number}")


def autovacuum(patient: Patient) -> Verdict:
    """Nothing keeps autovacuum from its work."""
    found = patient.ask(store.read_autovacuum())
    off = [name for name, on in (("autovacuum", found.on), ("track_counts", found.counts)) if not on]
    if off:
        return fail(
            f"{' and '.join(off)} off: dead rows pile up and claims slow down",
            f"set {off[0]} = on and reload the server",
        )
    if found.tables_without:
        return fail(
            f"autovacuum is disabled for {listed(found.tables_without)}",
            f"reset autovacuum_enabled on table {found.tables_without[0]}",
        )
    return ok("on for the server and for every table of Howdah")


def durability(patient: Patient) -> Verdict:
    """What was answered as committed survives a crash."""
    found = patient.ask(store.read_durability())
    lossy = []
    if not found.fsync:
        lossy.append("fsync = off")
    if not found.full_page_writes:
        lossy.append("full_page_writes = off")
    if found.synchronous_commit == "off":
        lossy.append("synchronous_commit = off")
    if not lossy:
        return ok(f"fsync on, synchronous_commit {found.synchronous_commit}")
    lost = (
        "the whole database may be damaged by a crash"
        if lossy[0] != "synchronous_commit = off"
        else ("the last moments' enqueues may be lost in a crash, though they were answered")
    )
    return warn(f"{', '.join(lossy)}: {lost}", "turn these settings on, unless this database is for tests only")


def notifications(patient: Patient) -> Verdict:
    """A bell rung through this URL is heard through it."""
    rings, _ = patient.ask(store.read_notify())
    if not rings:
        return ok("switched off in howdah.settings; workers poll")
    if bell_is_heard(patient.session, patient.limits.bell_patience):
        return ok("a notification sent through this URL was heard")
    return warn(
        f"not heard within {span(patient.limits.bell_patience)}, as behind a transaction pooler; polling covers it",
        "nothing must be done; for quicker pick-up give workers a URL that does not go through the pooler",
    )


def notification_queue(patient: Patient) -> Verdict:
    """The server's queue of notifications has room: when it is full, every enqueue fails."""
    _, used = patient.ask(store.read_notify())
    if used > patient.limits.bell_queue:
        return fail(
            f"{used:.0%} full; once it is full, every enqueue fails",
            "end the session that listens while it sits in an old transaction (the server's log names its process)",
        )
    return ok(f"{used:.0%} full")


def roles(patient: Patient) -> Verdict:
    """Where roles were set up, nothing is open to everybody, and nobody can slip names of his own to the owner."""
    catalog = patient.session.catalog
    found = patient.ask(store.read_roles(catalog.role("producer")))
    if not found.are_set_up:
        return ok("none were set up: who may connect as the owner may do everything")
    step = "run `howdah roles` as the owner of the tables"
    if found.open_to_all:
        return fail(f"open to PUBLIC, that is to every role: {listed(found.open_to_all)}", step)
    if found.unpinned:
        return fail(f"functions without the rights and the search_path that roles need: {listed(found.unpinned)}", step)
    if found.owner_is_superuser:
        return warn(
            "set up, but the tables belong to a superuser, and functions run with their owner's rights",
            "give the schema and all that is in it to a role of its own; docs/security.md says how",
        )
    return ok("set up, and nothing is open to PUBLIC")
