"""The strict machine: one statement after the other, over three connections; every answer is foretold exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.model import statements as say
from tests.model.queue_model import ModelJob, Pools, QueueModel, When
from tests.model.running import weigh
from tests.model.statements import RUN_AT, TYPES, Claimed, Draft, Memory, Sql

PRIORITIES = (100, 100, 100, 150, 30, 99, 0, -1, 2_147_483_647, -2_147_483_648)
MOST_JOBS = 40
WEIGHTS = {"insert": 5, "claim": 2, "claim_from_marks": 5, "pause": 2, "report": 2, "complete": 2, "finish": 3}
connections = st.integers(0, 2)
workers = st.sampled_from(["w0", "w1", "w2"])
numbers = st.integers(0, 39)
some = st.lists(numbers, min_size=1, max_size=6, unique=True)
#: Which lease a write carries: the right one, a former one, one that never was.
leases = st.lists(st.sampled_from(["right", "right", "former", "wrong"]), min_size=6, max_size=6)
pauses = st.sampled_from([("queue", "other"), ("type", "b"), ("queue", "default"), ("type", "nonesuch")])
batches = st.sampled_from([1, 1, 2, 3, 5, 8])
#: Seconds between created_at and the INSERT: what is older than two lies behind the far marks.
ages = st.sampled_from([0, 0, 1, 5, 3600])
pools = st.one_of(
    st.none(),
    st.none(),
    st.builds(lambda a, b: Pools({"default": a, "other": b}), st.integers(1, 3), st.integers(1, 3)),
)


class StrictMachine(RuleBasedStateMachine):
    """Statements on a real database, beside the model."""

    links: ClassVar[Sequence[Sql]]
    lanes: ClassVar[dict[tuple[str, str], int]]
    steps: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        weigh(self, WEIGHTS)
        self.model = QueueModel()
        self.memory = dict.fromkeys(TYPES, Memory())
        for sql in self.links:
            sql.rollback()
        say.empty(self.links[0])
        for worker in ("w0", "w1"):
            say.register(self.links[0], worker)
            self.model.beating[worker] = True

    def _at(self, connection: int) -> Sql:
        """Every rule begins with this: it is what counts as a step."""
        type(self).steps += 1
        return self.links[connection]

    def _chosen(self, picks: Sequence[int]) -> list[ModelJob]:
        """Jobs, each once, in id order."""
        jobs = sorted(self.model.jobs.values(), key=lambda job: job.id)
        return [jobs[n] for n in sorted({pick % len(jobs) for pick in picks})] if jobs else []

    def _leased(self, picks: Sequence[int], which: Sequence[str]) -> list[tuple[UUID, int]]:
        """Jobs with leases, some of them stale."""
        pairs = []
        for job, word in zip(self._chosen(picks), which, strict=False):
            former = job.old_leases[-1] if job.old_leases else job.lease + 1
            pairs.append((job.id, {"right": job.lease, "former": former, "wrong": job.lease + 1}[word]))
        return pairs

    # Into the queue.

    @rule(
        connection=connections, many=st.integers(1, 4), kind=st.sampled_from("ab"), queue=st.sampled_from(say.QUEUES),
        priority=st.sampled_from(PRIORITIES), attempts=st.integers(1, 3), when=st.sampled_from(When), age=ages,
    )  # fmt: skip
    def insert(
        self, connection: int, many: int, kind: str, queue: str, priority: int, attempts: int, when: When, age: int
    ) -> None:
        sql, draft = self._at(connection), Draft(kind, queue, priority, attempts, when, age)
        if len(self.model.jobs) + many > MOST_JOBS:
            return
        for job in say.insert(sql, draft, many) if many > 1 or age else say.enqueue(sql, draft):
            self.model.insert(job)

    # Out of it.

    @rule(connection=connections, worker=workers, most=batches, pools=pools)
    def claim(self, connection: int, worker: str, most: int, pools: Pools | None) -> None:
        expected = self.model.pick(TYPES[worker], most, pools)
        self._took(worker, expected, say.claim_jobs(self._at(connection), worker, most, pools))

    @rule(connection=connections, worker=st.sampled_from(["hand", "w2"]), most=batches)
    def claim_batch(self, connection: int, worker: str, most: int) -> None:
        expected = self.model.pick(TYPES[worker], most)
        self._took(worker, expected, say.claim_job_batch(self._at(connection), worker, most))

    @rule(
        connection=connections,
        worker=workers,
        most=batches,
        pools=pools,
        start=st.sampled_from(["near", "far", "far", "head"]),
    )
    def claim_from_marks(self, connection: int, worker: str, most: int, pools: Pools | None, start: str) -> None:
        sql, memory = self._at(connection), self.memory[worker]
        sees = None
        place: tuple[str | None, str | None, str | None] = (None, None, None)
        if start == "near" and memory.near is not None:
            place = (memory.near, None, None)
            sees = self._behind(say.read_marks(sql, memory.near))
        elif start == "far" and memory.far is not None:
            place = (memory.far, memory.strays, memory.seen)
        expected = self.model.pick(TYPES[worker], most, pools, sees)
        claimed = say.claim_from_marks(sql, worker, most, pools, place)
        assert claimed.took == len(claimed.jobs), "there was a surplus line row"
        self._took(worker, expected, claimed)
        fresh = claimed.memory
        assert fresh is not None, "no lane here has very many priorities"
        far_too = start == "head" or place == (None, None, None) or start == "far"
        self.memory[worker] = fresh if far_too else Memory(fresh.near, memory.far, memory.strays, memory.seen)

    def _behind(self, marks: dict[tuple[int, int], tuple[Any, UUID]]) -> Callable[[ModelJob], bool]:
        def sees(job: ModelJob) -> bool:
            mark = marks.get((self.lanes[job.queue, job.job_type], ~job.priority))
            return mark is None or (job.created_at, job.id) >= mark

        return sees

    def _took(self, worker: str, expected: list[ModelJob], claimed: Claimed) -> None:
        assert [job_id for job_id, _ in claimed.jobs] == [job.id for job in expected]
        for job, (_, lease) in zip(expected, claimed.jobs, strict=True):
            self.model.take(job, worker, lease)

    # What a claim says, and how it ends.

    @rule(connection=connections, worker=st.sampled_from(["w0", "w1"]), picks=some, which=leases)
    def heartbeat(self, connection: int, worker: str, picks: list[int], which: list[str]) -> None:
        sql, held = self._at(connection), self._leased(picks, which)
        if worker not in self.model.beating:
            say.register(sql, worker)
        assert say.heartbeat(sql, worker, held) == self.model.heartbeat(worker, held)

    @rule(connection=connections, picks=some, which=leases)
    def report(self, connection: int, picks: list[int], which: list[str]) -> None:
        words = self._leased(picks, which)
        assert say.report_jobs(self._at(connection), words) == self.model.report(words)

    @rule(connection=connections, picks=some, which=leases)
    def complete(self, connection: int, picks: list[int], which: list[str]) -> None:
        ends = self._leased(picks, which)
        assert say.complete_jobs(self._at(connection), ends) == self.model.complete(ends)

    @rule(
        connection=connections, picks=some, which=leases, soon=st.booleans(),
        outcomes=st.lists(
            st.sampled_from(["retry", "fail", "cancel", "snooze", "release", "death"]), min_size=6, max_size=6
        ),
    )  # fmt: skip
    def finish(self, connection: int, picks: list[int], which: list[str], soon: bool, outcomes: list[str]) -> None:
        when = When.DUE if soon else When.LATER
        ends = [(*pair, word, when) for pair, word in zip(self._leased(picks, which), outcomes, strict=False)]
        assert say.finish_jobs(self._at(connection), ends) == self.model.finish(ends)

    # Orders from outside.

    @rule(connection=connections, pick=numbers)
    def cancel(self, connection: int, pick: int) -> None:
        sql = self._at(connection)
        for job in self._chosen([pick]):
            assert say.ask(sql, "SELECT cancel_job(%s)", job.id) == self.model.cancel(job.id)

    @rule(connection=connections, pick=numbers)
    def retry(self, connection: int, pick: int) -> None:
        sql = self._at(connection)
        for job in self._chosen([pick]):
            assert say.ask(sql, "SELECT retry_job(%s)", job.id) == self.model.retry(job.id)

    @rule(connection=connections, order=st.sampled_from(["pause", "resume"]), what=pauses)
    def pause(self, connection: int, order: str, what: tuple[str, str]) -> None:
        foretold = (self.model.pause if order == "pause" else self.model.resume)(*what)
        assert say.ask(self._at(connection), f"SELECT {order}(%s, %s)", *what) is foretold

    # Plain SQL.

    @rule(connection=connections, picks=some, priority=st.sampled_from(PRIORITIES))
    def set_priority(self, connection: int, picks: list[int], priority: int) -> None:
        self._update(connection, picks, "priority = %s", priority)
        for job in self._chosen(picks):
            job.priority = priority

    @rule(connection=connections, picks=some, queue=st.sampled_from(say.QUEUES))
    def set_queue(self, connection: int, picks: list[int], queue: str) -> None:
        self._update(connection, picks, "queue = %s", queue)
        for job in self._chosen(picks):
            job.queue = queue

    @rule(connection=connections, picks=some, attempts=st.integers(1, 4))
    def set_max_attempts(self, connection: int, picks: list[int], attempts: int) -> None:
        self._update(connection, picks, "max_attempts = %s", attempts)
        for job in self._chosen(picks):
            job.max_attempts = attempts

    @rule(connection=connections, picks=some, when=st.sampled_from(When))
    def set_run_at(self, connection: int, picks: list[int], when: When) -> None:
        self._update(connection, picks, f"run_at = {RUN_AT[when]}")
        for job in self._chosen(picks):
            job.when = when

    @rule(connection=connections, picks=some, status=st.sampled_from(["pending", "completed", "failed", "cancelled"]))
    def set_status(self, connection: int, picks: list[int], status: str) -> None:
        more = ", worker_id = NULL, claimed_at = NULL" if status == "pending" else ", completed_at = now()"
        self._update(connection, picks, f"status = %s{more}", status)
        for job in self._chosen(picks):
            self.model.set_status(job, status)

    @rule(connection=connections, picks=some, status=st.sampled_from(["claimed", "running"]))
    def claim_by_update(self, connection: int, picks: list[int], status: str) -> None:
        sql, jobs = self._at(connection), [job for job in self._chosen(picks) if job.status == "pending"]
        change = "UPDATE jobs SET status = %s, worker_id = 'hand', claimed_at = now() WHERE id = ANY (%s)"
        ids = [job.id for job in jobs]
        sql.execute(change, (status, ids))
        now = dict(sql.execute("SELECT id, lease FROM jobs WHERE id = ANY (%s)", (ids,)).fetchall())
        for job in jobs:
            self.model.take_plainly(job, "hand", status, now[job.id])

    @rule(connection=connections, picks=some)
    def delete(self, connection: int, picks: list[int]) -> None:
        ids = [job.id for job in self._chosen(picks)]
        gone = self._at(connection).execute("DELETE FROM jobs WHERE id = ANY (%s)", (ids,)).rowcount
        assert gone == self.model.delete(ids)

    def _update(self, connection: int, picks: list[int], change: str, *values: object) -> None:
        ids = [job.id for job in self._chosen(picks)]
        query = f"UPDATE jobs SET {change} WHERE id = ANY (%s)"
        assert self._at(connection).execute(query.encode(), (*values, ids)).rowcount == len(ids)

    # Time, and the dead.

    @rule(connection=connections)
    def let_time_pass(self, connection: int) -> None:
        say.let_time_pass(self._at(connection))
        self.model.let_time_pass()

    @rule(connection=connections)
    def age_claims(self, connection: int) -> None:
        say.age_claims(self._at(connection))
        self.model.age_claims()

    @rule(connection=connections, worker=st.sampled_from(["w0", "w1"]))
    def silence(self, connection: int, worker: str) -> None:
        self._at(connection).execute("UPDATE workers SET heartbeat_at = '-infinity' WHERE id = %s", (worker,))
        self.model.silence(worker)

    @rule(connection=connections)
    def rescue(self, connection: int) -> None:
        # A claim is a sign of life: those of the silenced are old.
        self._at(connection).execute(
            "UPDATE claims SET claimed_at = '-infinity'"
            " WHERE worker_id IN (SELECT w.id FROM workers AS w WHERE w.heartbeat_at = '-infinity')"
        )
        assert say.rescue(self._at(connection)) == self.model.rescue()

    @rule(connection=connections)
    def recover(self, connection: int) -> None:
        assert say.recover(self._at(connection)) == self.model.recover()

    @rule(connection=connections, worker=st.sampled_from(["w0", "w1"]))
    def unregister(self, connection: int, worker: str) -> None:
        foretold = self.model.unregister(worker)
        assert say.ask(self._at(connection), "SELECT unregister_worker(%s)", worker) is foretold

    @rule(connection=connections, chore=st.sampled_from(["promote_due", "sweep_lanes", "sweep_late"]))
    def do_chore(self, connection: int, chore: str) -> None:
        self._at(connection).execute(f"SELECT {chore}()".encode())

    @invariant()
    def the_ledger_is_the_models_and_the_lines_follow_it(self) -> None:
        sql = self.links[self.steps % 3]
        ledger = {row[0]: row for row in sql.execute(say.LEDGER).fetchall()}
        assert ledger == {job.id: job.columns() for job in self.model.jobs.values()}
        for job_id, _, places, right in sql.execute(say.WRONG_PLACES).fetchall():
            job = self.model.jobs.get(job_id)
            one = 1 if job is not None and job.waits else 0
            assert (places, right) == (one, one), f"{job or job_id} has {places} places, {right} of them right"
        assert sql.execute(say.UNCLAIMED).fetchall() == []


def bound(links: Sequence[Sql]) -> type[StrictMachine]:
    """The machine on these connections."""

    class Bound(StrictMachine):
        pass

    Bound.links, Bound.lanes = links, say.read_lanes(links[0])
    return Bound
