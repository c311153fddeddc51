"""The interleaved machine: transactions stay open over other statements, then commit or roll back.

Whoever changes a job holds its row until the end of the transaction, so for each job the order of commits is the order
of what happened. Effects are therefore applied to the model at commit, and every answer that a statement gave must be
one that the model allows at that moment. A statement may always refuse, because somebody holds what it needs: then it
must have done nothing. A refused write is not judged: what it was refused for may have changed before its commit.

When no transaction is open, the ledger must be the model's, every waiting job must have its place in a line, and a
claim from the far marks that did not fill its batch must have left nothing behind. At the end of a run everything is
claimed, once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from tests.model import statements as say
from tests.model.queue_model import ModelJob, QueueModel, When
from tests.model.running import weigh
from tests.model.statements import TYPES, Claimed, Draft, Memory, Sql
from tests.model.strict_machine import (
    MOST_JOBS,
    PRIORITIES,
    WEIGHTS,
    ages,
    batches,
    connections,
    numbers,
    pauses,
    some,
    workers,
)
from tests.model.transactions import TransactionsMachine, in_transaction

#: Which lease a write carries; "handed": one that an open claim gave out.
leases = st.lists(st.sampled_from(["right", "right", "handed", "former"]), min_size=6, max_size=6)


class InterleavedMachine(TransactionsMachine):
    """Three connections, each in a transaction or not."""

    def __init__(self) -> None:
        super().__init__()
        weigh(self, {**WEIGHTS, "end": 10, "lock": 3, "order": 3, "do_chore": 2})
        self.model = QueueModel()
        self.memory = dict.fromkeys(TYPES, Memory())
        self.handed: dict[UUID, int] = {}
        say.empty(self.links[3])
        for worker in ("w0", "w1"):
            say.register(self.links[3], worker)
            self.model.beating[worker] = True

    def _chosen(self, picks: Sequence[int]) -> list[UUID]:
        jobs = sorted(self.model.jobs)
        return [jobs[n] for n in sorted({pick % len(jobs) for pick in picks})] if jobs else []

    def _leased(self, picks: Sequence[int], which: Sequence[str]) -> list[tuple[UUID, int]]:
        pairs = []
        for job_id, word in zip(self._chosen(picks), which, strict=False):
            job = self.model.jobs[job_id]
            former = job.old_leases[-1] if job.old_leases else job.lease + 1
            lease = {"right": job.lease, "handed": self.handed.get(job_id, job.lease), "former": former}[word]
            pairs.append((job_id, lease))
        return pairs

    # Transactions.

    @rule(connection=connections, word=st.sampled_from(["COMMIT", "COMMIT", "ROLLBACK"]))
    def end(self, connection: int, word: str) -> None:
        if connection in self.journals:
            type(self).steps += 1
            self._end(connection, word)
            if not self.journals:
                self.handed.clear()

    # Into the queue and out of it.

    @rule(
        connection=connections, many=st.integers(1, 4), kind=st.sampled_from("ab"), queue=st.sampled_from(say.QUEUES),
        priority=st.sampled_from(PRIORITIES), attempts=st.integers(1, 3), when=st.sampled_from(When), age=ages,
    )  # fmt: skip
    def insert(
        self, connection: int, many: int, kind: str, queue: str, priority: int, attempts: int, when: When, age: int
    ) -> None:
        draft = Draft(kind, queue, priority, attempts, when, age)
        if len(self.model.jobs) + many <= MOST_JOBS:
            made = self._act(connection, lambda sql: say.insert(sql, draft, many))
            for job in made or ():
                self._note(connection, partial(self.model.insert, job))

    @rule(connection=connections, worker=workers, most=batches)
    def claim(self, connection: int, worker: str, most: int) -> None:
        self._took(connection, worker, self._act(connection, lambda sql: say.claim_jobs(sql, worker, most, None)))

    @rule(connection=connections, worker=st.sampled_from(["hand", "w2"]), most=batches)
    def claim_batch(self, connection: int, worker: str, most: int) -> None:
        self._took(connection, worker, self._act(connection, lambda sql: say.claim_job_batch(sql, worker, most)))

    @rule(connection=connections, worker=workers, most=batches, start=st.sampled_from(["near", "far", "far"]))
    def claim_from_marks(self, connection: int, worker: str, most: int, start: str) -> None:
        memory = self.memory[worker]
        place = (memory.near, None, None) if start == "near" else (memory.far, memory.strays, memory.seen)
        claimed = self._act(connection, lambda sql: say.claim_from_marks(sql, worker, most, None, place))
        self._took(connection, worker, claimed)
        if claimed is None or claimed.memory is None:
            return
        fresh, whole = claimed.memory, start == "far" or memory.near is None

        def learn() -> None:
            old = self.memory[worker]
            self.memory[worker] = fresh if whole else Memory(fresh.near, old.far, old.strays, old.seen)

        self._note(connection, learn)
        if start == "far" and claimed.took < most and not self.journals:
            left = self.model.pick(TYPES[worker], MOST_JOBS)
            assert left == [], f"a claim from the far marks stopped at {claimed.took} of {most} and left {left}"

    def _took(self, connection: int, worker: str, claimed: Claimed | None) -> None:
        for job_id, lease in claimed.jobs if claimed is not None else ():
            self.handed[job_id] = lease

            def effect(job_id: UUID = job_id, lease: int = lease) -> None:
                job = self.model.jobs[job_id]
                assert job.when is not When.LATER, f"{job} was claimed before its time"
                assert job.job_type in TYPES[worker]
                self.model.take(job, worker, lease)

            self._note(connection, effect)

    # Writes of a claim: what was accepted must be acceptable.

    @rule(connection=connections, picks=some, which=leases)
    def report(self, connection: int, picks: list[int], which: list[str]) -> None:
        words = self._leased(picks, which)
        heard = self._act(connection, lambda sql: say.report_jobs(sql, words)) or set()
        accepted = [pair for pair in words if pair[0] in heard]
        self._note(connection, lambda: _same(self.model.report(accepted), heard))

    @rule(connection=connections, picks=some, which=leases)
    def complete(self, connection: int, picks: list[int], which: list[str]) -> None:
        ends = self._leased(picks, which)
        before = {(*pair, "completed") for pair in ends}
        refused = self._act(connection, lambda sql: say.complete_jobs(sql, ends))
        if refused is not None:
            # A completion repeated locks nothing: what it was told may be old when its transaction commits.
            repeated = {job.id for job in self.model.jobs.values() if (job.id, job.lease, job.status) in before}
            accepted = [pair for pair in ends if pair[0] not in refused and pair[0] not in repeated]
            self._note(connection, lambda: _same(self.model.complete(accepted), set()))

    @rule(
        connection=connections, picks=some, which=leases,
        outcomes=st.lists(
            st.sampled_from(["retry", "fail", "cancel", "snooze", "release", "death"]), min_size=6, max_size=6
        ),
    )  # fmt: skip
    def finish(self, connection: int, picks: list[int], which: list[str], outcomes: list[str]) -> None:
        ends = [(*pair, word, When.DUE) for pair, word in zip(self._leased(picks, which), outcomes, strict=False)]
        became = self._act(connection, lambda sql: say.finish_jobs(sql, ends)) or {}
        accepted = [end for end in ends if end[0] in became]
        self._note(connection, lambda: _same(self.model.finish(accepted), became))

    # Orders from outside, and plain SQL.

    @rule(connection=connections, pick=numbers, order=st.sampled_from(["cancel", "retry"]))
    def order(self, connection: int, pick: int, order: str) -> None:
        job_id = next(iter(self._chosen([pick])), UUID(int=0))
        answer = self._act(connection, lambda sql: (say.ask(sql, f"SELECT {order}_job(%s)", job_id),))
        obey = self.model.cancel if order == "cancel" else self.model.retry
        # Null: an older snapshot may not know the job.
        if answer is not None and answer[0] is not None:
            self._note(connection, lambda: _same(obey(job_id), answer[0]))

    @rule(connection=connections, order=st.sampled_from(["pause", "resume", "resume"]), what=pauses)
    def pause(self, connection: int, order: str, what: tuple[str, str]) -> None:
        done = self._act(connection, lambda sql: (say.ask(sql, f"SELECT {order}(%s, %s)", *what),))
        obey = self.model.pause if order == "pause" else self.model.resume
        if done is not None and done[0]:
            self._note(connection, lambda: _same(obey(*what), True))

    @rule(connection=connections, picks=some, priority=st.sampled_from(PRIORITIES), queue=st.sampled_from(say.QUEUES))
    def move(self, connection: int, picks: list[int], priority: int, queue: str) -> None:
        def effect(job: ModelJob) -> None:
            job.priority, job.queue = priority, queue

        self._update(connection, picks, "priority = %s, queue = %s", (priority, queue), effect)

    @rule(connection=connections, picks=some, status=st.sampled_from(["pending", "completed", "failed", "cancelled"]))
    def set_status(self, connection: int, picks: list[int], status: str) -> None:
        more = ", worker_id = NULL, claimed_at = NULL" if status == "pending" else ""
        self._update(connection, picks, f"status = %s{more}", (status,), lambda job: self.model.set_status(job, status))

    def _update(
        self,
        connection: int,
        picks: list[int],
        change: str,
        values: Sequence[object],
        effect: Callable[[ModelJob], None],
    ) -> None:
        query = f"UPDATE jobs SET {change} WHERE id = ANY (%s) RETURNING id"
        ids = self._chosen(picks)
        rows = self._act(connection, lambda sql: sql.execute(query.encode(), (*values, ids)).fetchall())
        for row in rows or ():
            self._note(connection, partial(self._on_job, row[0], effect))

    def _on_job(self, job_id: UUID, effect: Callable[[ModelJob], None]) -> None:
        effect(self.model.jobs[job_id])

    @rule(connection=connections, picks=some)
    def claim_by_update(self, connection: int, picks: list[int]) -> None:
        def change(sql: Sql) -> dict[UUID, int]:
            query = "UPDATE jobs SET status = 'claimed', worker_id = 'hand', claimed_at = now() WHERE id = ANY (%s)"
            rows = sql.execute(query + " AND status = 'pending' RETURNING id", (self._chosen(picks),)).fetchall()
            ids = [row[0] for row in rows]
            return dict(sql.execute("SELECT id, lease FROM jobs WHERE id = ANY (%s)", (ids,)).fetchall())

        now = self._act(connection, lambda sql: in_transaction(sql, change))
        for job_id, lease in (now or {}).items():
            self.handed[job_id] = lease

            def effect(job_id: UUID = job_id, lease: int = lease) -> None:
                assert self.model.jobs[job_id].status == "pending"
                self.model.take_plainly(self.model.jobs[job_id], "hand", "claimed", lease)

            self._note(connection, effect)

    @rule(connection=connections, picks=some)
    def lock(self, connection: int, picks: list[int]) -> None:
        query, ids = "SELECT id FROM jobs WHERE id = ANY (%s) FOR UPDATE", self._chosen(picks)
        self._act(connection, lambda sql: sql.execute(query, (ids,)).fetchall())

    @rule(connection=connections, picks=some)
    def delete(self, connection: int, picks: list[int]) -> None:
        query, ids = "DELETE FROM jobs WHERE id = ANY (%s) RETURNING id", self._chosen(picks[:2])
        rows = self._act(connection, lambda sql: sql.execute(query, (ids,)).fetchall()) or []
        self._note(connection, lambda: _same(self.model.delete([row[0] for row in rows]), len(rows)))

    # Time, and the dead.

    @rule(connection=connections, chore=st.sampled_from(["promote_due", "sweep_lanes", "sweep_late"]))
    def do_chore(self, connection: int, chore: str) -> None:
        self._act(connection, lambda sql: sql.execute(f"SELECT {chore}()".encode()))

    @rule(connection=connections)
    def let_time_pass(self, connection: int) -> None:
        if not self.journals:
            type(self).steps += 1
            say.let_time_pass(self.links[connection])
            self.model.let_time_pass()
            say.age_claims(self.links[connection])
            self.model.age_claims()

    @rule(connection=connections, worker=st.sampled_from(["w0", "w1"]))
    def heartbeat(self, connection: int, worker: str) -> None:
        known = worker in self.model.beating

        def beat(sql: Sql) -> bool:
            before = say.last_beat(sql, worker)
            if known:
                say.heartbeat(sql, worker, [])
            else:
                say.register(sql, worker)
            return bool(say.last_beat(sql, worker) != before)

        # A beat soon after another writes nothing, so that it holds up nobody who silences the worker meanwhile.
        if self._act(connection, beat):
            self._note(connection, lambda: self.model.beating.update({worker: True}))

    @rule(connection=connections, worker=st.sampled_from(["w0", "w1"]))
    def silence(self, connection: int, worker: str) -> None:
        query = "UPDATE workers SET heartbeat_at = '-infinity' WHERE id = %s RETURNING id"
        if self._act(connection, lambda sql: sql.execute(query, (worker,)).fetchall()):
            self._note(connection, lambda: self.model.silence(worker))

    @rule(connection=connections)
    def rescue(self, connection: int) -> None:
        def save(sql: Sql) -> tuple[set[tuple[UUID, str, int, str]], set[str], set[str]]:
            registered = say.worker_ids(sql)
            return say.rescue(sql), registered, registered - say.worker_ids(sql)

        saved = self._act(connection, lambda sql: in_transaction(sql, save))
        if saved is not None:
            self._note(connection, lambda: self.model.rescued(*saved))

    # What must hold.

    @invariant()
    def at_rest_the_ledger_is_the_models_and_nothing_is_stranded(self) -> None:
        if self.journals:
            return
        sql = self.links[3]
        ledger = {row[0]: row for row in sql.execute(say.LEDGER).fetchall()}
        assert ledger == {job.id: job.columns() for job in self.model.jobs.values()}
        for job_id, _, places, right in sql.execute(say.WRONG_PLACES).fetchall():
            job = self.model.jobs.get(job_id)
            # Surplus places are harmless: the next claim throws them away.
            assert job is None or not job.waits or right >= 1, f"{job} waits in no line; it has {places} wrong places"
        assert sql.execute(say.UNCLAIMED).fetchall() == []

    def teardown(self) -> None:
        if sys.exc_info()[0] is not None:
            return  # it went wrong before; what is left says nothing
        for connection in list(self.journals):
            self._end(connection, "COMMIT")
        sql = self.links[3]
        sql.execute("DELETE FROM pauses")
        self.model.paused.clear()
        while (claimed := say.claim_jobs(sql, "w0", 7, None)).jobs:
            self._took(0, "w0", claimed)
        assert self.model.pick(TYPES["w0"], MOST_JOBS) == [], "these could not be claimed"
        assert say.ask(sql, "SELECT count(*) FROM ready") == 0


def _same(found: object, expected: object) -> None:
    assert found == expected


def bound(links: Sequence[Sql]) -> type[InterleavedMachine]:
    """The machine on these connections, whose statements do not wait for each other for long."""
    for sql in links[:3]:
        sql.execute("SET lock_timeout = '5ms'")
    patient = links[0].execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc AS p WHERE p.pronamespace = 'howdah'::regnamespace"
        " AND 'lock_timeout=500ms' = ANY (p.proconfig)"
    )
    for (function,) in patient.fetchall():
        links[0].execute(f"ALTER FUNCTION {function} SET lock_timeout = '5ms'".encode())

    class Bound(InterleavedMachine):
        pass

    Bound.links = links
    return Bound
