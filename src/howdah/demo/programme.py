"""The dozen jobs: what each is called on the screen, what it shows, and how it has to end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from howdah.client.handle import Job
from howdah.demo import expectations as expect
from howdah.demo import jobs
from howdah.demo.expectations import Expectation, Outcome
from howdah.model.priority import Priority

REMINDER_DELAY = timedelta(seconds=5)
FILM, CATALOGUE, BAD_FILE = "encode_film", "import_catalogue", "open_bad_file"


@dataclass(frozen=True, slots=True)
class Part:
    """One job of the show."""

    label: str
    job_id: UUID
    shows: str
    expectation: Expectation

    def failures(self, outcome: Outcome) -> list[str]:
        """What was expected and did not come about."""
        standing = outcome.standings.get(self.label)
        if standing is None:
            return ["a row in the table"]
        return [expected for held, expected in self.expectation(standing, outcome) if not held]


def enqueue_everyday_jobs() -> list[Part]:
    """Everything but the poison. Labels go in lowest priority first."""
    labels = (
        ("low", Priority.BACKFILL, "third"),
        ("normal", Priority.DISCOVERED, "second"),
        ("high", Priority.EXPLICIT, "first"),
    )
    ordered = expect.in_order
    return [
        _part(FILM, jobs.encode_film.enqueue("The Tall Grass"), "killed, finished by another", expect.taken_over),
        _part("resize_photos", jobs.resize_photos.enqueue(14), "plain def: in a thread", expect.in_a_thread),
        _part("find_primes", jobs.find_primes.enqueue(120_000), "process=True: in a process", expect.in_a_process),
        _part("call_flaky_api", jobs.call_flaky_api.enqueue(), "raised twice, then succeeded", expect.retried),
        _part(CATALOGUE, jobs.import_catalogue.enqueue(3000), "cancelled while it ran", expect.cancelled),
        *(
            _part(f"send_email {to}", jobs.send_email.enqueue(to), "quick: on the event loop", expect.completed)
            for to in ("ada", "grace")
        ),
        *(
            _part(f"print_label {name}", _enqueue_label(name, priority), f"priority {priority:d}: ran {turn}", ordered)
            for name, priority, turn in labels
        ),
        _part(
            "send_reminder",
            jobs.send_reminder.using(delay=REMINDER_DELAY).enqueue("ada"),
            f"scheduled {REMINDER_DELAY.seconds} s ahead",
            expect.on_time,
        ),
    ]


def enqueue_poison() -> Part:
    """The job that kills its workers."""
    return _part(BAD_FILE, jobs.open_bad_file.enqueue(), "poison: stopped at 3 deaths", expect.poisonous)


def _part(label: str, job: Job[Any], shows: str, expectation: Expectation) -> Part:
    return Part(label, job.id, shows, expectation)


def _enqueue_label(name: str, priority: Priority) -> Job[None]:
    return jobs.print_label.using(priority=priority).enqueue(name)
