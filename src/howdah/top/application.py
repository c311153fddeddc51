"""The live view: four tables, looked after by one task that reads, and keys that order.

While the database is away a banner says so, what was last read stays, and the task goes on trying.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Footer, Input, Static

from howdah.app import Howdah
from howdah.model.errors import HowdahError
from howdah.top.cells import Paces, visible
from howdah.top.dialogs import HELP, Question, Sheet
from howdah.top.filtering import Wish, read_wish
from howdah.top.heading import heading
from howdah.top.lines import (
    FAILURES,
    QUEUES,
    RUNNING,
    WORKERS,
    Line,
    failure_lines,
    queue_lines,
    running_lines,
    worker_lines,
)
from howdah.top.orders import Order, cancelling, pausing, retrying
from howdah.top.particulars import read_particulars
from howdah.top.reading import Source
from howdah.top.table import LiveTable

#: How soon a lost database is tried again.
LOST_SECONDS = 1.0


#: From this width on, queues and workers stand side by side.
WIDE = 140


class Top(App[None]):
    """`read_only`: the keys that change anything say that they do not."""

    CSS_PATH = "top.tcss"
    TITLE = "howdah top"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "cancel", "Cancel"),
        Binding("r", "retry", "Retry"),
        Binding("p", "pause", "Pause"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("enter", "particulars", "Job", show=False),
        Binding("z", "zoom", "Zoom"),
        *(Binding(str(number), f"choose({number})", show=False) for number in range(1, 5)),
        Binding("escape", "unfilter", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, queue: Howdah, place: str, *, read_only: bool = False) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
        self.source = Source(queue)
        self.looks = 0
        """How often everything shown was read; tests wait for it."""
        self._place = place
        self._read_only = read_only
        self._paces = Paces()
        self._wish = Wish()
        self._wake = asyncio.Event()
        # Held here and not asked of the screen: another screen may be before them, and at the end there is none.
        self.head = Static(id="head")
        self.banner = Static(id="banner")
        self.field = Input(
            id="filter", placeholder="filter: a part of what is shown, or type=encode error~timeout", compact=True
        )
        self.queues = LiveTable("Queues", QUEUES, id="queues")
        self.workers_table = LiveTable("Workers", WORKERS, id="workers")
        self.running = LiveTable("Running", RUNNING, id="running")
        self.failures = LiveTable("Failures", FAILURES, id="failures")

    @property
    def tables(self) -> tuple[LiveTable, ...]:
        """In the order of their numbers."""
        return self.queues, self.workers_table, self.running, self.failures

    def compose(self) -> ComposeResult:
        """The head, a banner for bad times, the tables, the filter, the keys."""
        yield self.head
        yield self.banner
        with Container(id="upper"):
            yield self.queues
            yield self.workers_table
        yield self.running
        yield self.failures
        yield self.field
        yield Footer()

    def on_mount(self) -> None:
        """Begin to read."""
        self.running.focus()
        self._read_on()

    @work(exclusive=True, group="reading")
    async def _read_on(self) -> None:
        try:
            while True:
                await self._rest(await self._look())
        finally:
            await self.source.close()

    async def _look(self) -> float:
        try:
            rest = await self.source.look()
        except HowdahError as error:
            self._say_lost(f"cannot read the database, trying again: {visible(error)}")
            self.source.look_again()
            return LOST_SECONDS
        self._say_lost("")
        self.show_all()
        self.looks += 1
        return rest

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    def show_all(self) -> None:
        """Draw what was last read."""
        snapshot, problems = self.source.snapshot, self.source.snapshot.problems
        self.head.update(heading(snapshot, self._place, self._wish, self._read_only))
        drawn = {
            "queues": queue_lines(snapshot, self.queues.room),
            "workers": worker_lines(snapshot, self.workers_table.room),
            "running": running_lines(snapshot, self.running.room, self._paces),
            "failures": failure_lines(snapshot, self.failures.room),
        }
        for table in self.tables:
            name = table.id or ""
            table.fill([line for line in drawn[name] if self._wish.shows(name, line)], problems.get(name, ""))

    def on_resize(self) -> None:
        """The tables' columns follow the width, once they have theirs."""
        self.call_after_refresh(self.show_all)

    def action_choose(self, number: int) -> None:
        """Go to that table."""
        self.tables[number - 1].focus()

    def action_zoom(self) -> None:
        """The chosen table alone, or all of them."""
        self.screen.toggle_class("zoomed")

    def action_help(self) -> None:
        """What the keys do."""
        self.push_screen(Sheet("howdah top", Text(HELP)))

    def action_filter(self) -> None:
        """Ask what to look for."""
        self.field.add_class("shown")
        self.field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while it is typed; conditions when they are complete."""
        self._filter(event.value, told=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the tables, if the filter can be read."""
        if self._filter(event.value, told=True):
            self.field.remove_class("shown")
            self.running.focus()

    def action_unfilter(self) -> None:
        """Show everything again."""
        self.field.value = ""
        self.field.remove_class("shown")
        self.screen.remove_class("zoomed")
        self._filter("", told=True)
        if self.focused is self.field or self.focused is None:
            self.running.focus()

    def _filter(self, text: str, *, told: bool) -> bool:
        try:
            wish = read_wish(text)
        except HowdahError as error:
            if told:
                self.notify(visible(error), severity="error", markup=False)
            return False
        if wish != self._wish:
            self._wish, self.source.wanted = wish, wish.jobs
            self.source.look_again()
            self._wake.set()
            self.show_all()
        return True

    @work(exclusive=True, group="particulars")
    async def action_particulars(self) -> None:
        """Everything about the chosen job."""
        line = self._chosen()
        if line is not None and line.job is not None:
            parts = await read_particulars(self.source, line.job)
            await self.push_screen(Sheet(visible(line.job.job_type), *parts))

    def on_data_table_row_selected(self) -> None:
        """Enter on a line."""
        self.action_particulars()

    def action_cancel(self) -> None:
        """Cancel the chosen running job."""
        line = self.running.selected
        if self.focused is not self.running or line is None or line.job is None:
            self.notify("c cancels a running job: choose one in Running (3)")
        else:
            self._confirm(cancelling(line.job))

    def action_retry(self) -> None:
        """Retry the chosen failed job."""
        line = self.failures.selected
        if self.focused is not self.failures or line is None or line.job is None:
            self.notify("r retries a failed job: choose one in Failures (4)")
        else:
            self._confirm(retrying(line.job))

    def action_pause(self) -> None:
        """Pause or resume the chosen queue."""
        line = self.queues.selected
        if self.focused is not self.queues or line is None:
            self.notify("p pauses a queue: choose one in Queues (1)")
        else:
            self._confirm(pausing(line.key, line.key in self.source.snapshot.paused_queues))

    def _confirm(self, order: Order) -> None:
        if self._read_only:
            self.notify("nothing is changed: this is --read-only", severity="warning")
            return
        self.push_screen(Question(order.question, order.consequence), partial(self._answered, order))

    def _answered(self, order: Order, yes: bool | None) -> None:
        if yes:
            self._carry_out(order)

    @work(group="orders")
    async def _carry_out(self, order: Order) -> None:
        try:
            self.notify(await self.source.change(order.make), markup=False)
        except HowdahError as error:
            self.notify(visible(error), title="not done", severity="error", markup=False)
        self.source.look_again()
        self._wake.set()

    def _chosen(self) -> Line | None:
        return self.focused.selected if isinstance(self.focused, LiveTable) else None

    def _say_lost(self, words: str) -> None:
        self.banner.update(Text(words))
        self.banner.set_class(bool(words), "shown")
        for table in self.tables:
            table.set_class(bool(words), "lost")
