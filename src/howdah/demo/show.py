"""The script: what happens on stage, in which order. Every cue waits for what the database says, not for a clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from howdah.db.sessions import Sessions
from howdah.demo import store
from howdah.demo.expectations import Outcome
from howdah.demo.jobs import LABELS, RISKY, app
from howdah.demo.programme import BAD_FILE, CATALOGUE, FILM, Part, enqueue_everyday_jobs, enqueue_poison
from howdah.demo.standing import Line, Standing
from howdah.demo.view import SummaryRow, View
from howdah.demo.worker_process import SILENCE
from howdah.demo.workers import DemoFailed, Workers, successor_of

LOOK_SECONDS = 0.25
#: Four times what the show takes on a laptop.
PATIENCE_SECONDS = 120.0
DEFAULT = "default"


@dataclass
class Show:
    """One performance."""

    sessions: Sessions
    workers: Workers
    view: View
    parts: dict[str, Part] = field(default_factory=dict)
    standings: Mapping[UUID, Standing] = field(default_factory=dict)
    killed: str = ""
    _began: float = field(default_factory=time.monotonic)

    def perform(self) -> None:
        """Everything, from the first enqueue to the last end."""
        self._enqueue()
        with self.view.watching():
            self._start_workers()
            self._cancel_a_running_job()
            self._kill_a_worker()
            self._see_it_taken_over()
            self._let_poison_in()
            self._see_everything_end()

    def outcome(self) -> Outcome:
        """How it ended, read once more from the database."""
        self.standings = self.sessions.run(store.watch_jobs)
        found = {
            label: self.standings[part.job_id] for label, part in self.parts.items() if part.job_id in self.standings
        }
        return Outcome(found, self.killed, frozenset(self.workers.process_ids.values()))

    def summary(self) -> list[SummaryRow]:
        """A row for each job, with what was expected of it in vain."""
        outcome = self.outcome()
        return [_summary_row(part, outcome) for part in self.parts.values()]

    def job(self, label: str) -> Standing:
        """How that job stood at the last look."""
        return self.standings[self.parts[label].job_id]

    def _enqueue(self) -> None:
        self.parts = {part.label: part for part in enqueue_everyday_jobs()}
        self.standings = self.sessions.run(store.watch_jobs)
        self.view.say(f"{len(self.parts)} jobs enqueued; labels lowest priority first, a reminder 5 s ahead")

    def _start_workers(self) -> None:
        self.workers.start("A", DEFAULT)
        self.workers.start("B", DEFAULT, f"{LABELS}=1")
        self.view.say("two worker processes start: A and B")

    def _cancel_a_running_job(self) -> None:
        self._until(lambda: self.job(CATALOGUE).progress >= 4, f"{CATALOGUE} is under way")
        app.get(self.parts[CATALOGUE].job_id).cancel()
        self.view.say(f"{CATALOGUE} would take a minute: cancelled while it runs")

    def _kill_a_worker(self) -> None:
        self._until(self._film_is_alone_or_far, f"{FILM} is half done")
        film = self.job(FILM)
        if film.finished or film.worker is None:
            raise DemoFailed(f"{FILM} was over before its worker could be killed")
        self.killed = film.worker
        process_id = self.workers.kill(self.killed)
        self.view.say(f"kill -9 {process_id}: worker {self.killed} dies with {FILM} at {film.progress} %", alarm=True)

    def _film_is_alone_or_far(self) -> bool:
        # Best when all others are through, so that only one job is hit; at three quarters it is now or never.
        others = all(self.job(label).finished for label in self.parts if label != FILM)
        film = self.job(FILM)
        return film.finished or film.progress >= (40 if others else 75)

    def _see_it_taken_over(self) -> None:
        self.view.say(f"nobody tells the queue: it notices {SILENCE.seconds} s of silence and rescues the job")
        self._until(lambda: self.job(FILM).worker not in (None, self.killed), f"another worker has {FILM}")
        film = self.job(FILM)
        self.view.say(f"worker {film.worker} has taken {FILM} over, attempt {film.attempts}")

    def _let_poison_in(self) -> None:
        # Only the newcomer serves this queue: the film on the other worker is left in peace.
        newcomer = successor_of(self.killed)
        self.workers.start(newcomer, DEFAULT, RISKY)
        self.view.say(f"a new worker, {newcomer}, joins; it alone serves the queue {RISKY!r}")
        part = enqueue_poison()
        self.parts[part.label] = part
        self.view.say(f"{BAD_FILE} is enqueued there: it kills whatever worker runs it")
        self._look()

    def _see_everything_end(self) -> None:
        self._until(lambda: self.job(BAD_FILE).finished, f"{BAD_FILE} is given up")
        poison = self.job(BAD_FILE)
        self.view.say(f"{BAD_FILE} has cost {poison.deaths} workers: {poison.status} as poison, not tried again")
        self._until(lambda: all(self.job(label).finished for label in self.parts), "every job has ended")

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        while True:
            self._look()
            if condition():
                return
            if time.monotonic() - self._began > PATIENCE_SECONDS:
                raise DemoFailed(f"waited {PATIENCE_SECONDS:.0f} s in vain until {what}")
            time.sleep(LOOK_SECONDS)

    def _look(self) -> None:
        for dead, successor in self.workers.replace_dead():
            self.view.say(f"worker {dead} died (SIGKILL); a new one, {successor}, takes its place", alarm=True)
        self.standings = self.sessions.run(store.watch_jobs)
        living = self.workers.living
        lines = []
        for part in self.parts.values():
            standing = self.standings[part.job_id]
            lines.append(Line(part.label, standing, standing.held and standing.worker not in living))
        self.view.show(lines, sorted(living))


def _summary_row(part: Part, outcome: Outcome) -> SummaryRow:
    failures = tuple(part.failures(outcome))
    job = outcome.standings.get(part.label)
    if job is None:
        return SummaryRow(part.label, "gone", 0, 0, 0.0, part.shows, failures)
    return SummaryRow(part.label, job.status, job.attempts, job.deaths, job.took, part.shows, failures)
