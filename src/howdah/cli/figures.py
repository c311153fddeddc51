"""Tables of figures: a Rich one on a terminal where Rich is installed, plain columns elsewhere."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

from howdah.cli.output import print_table


def print_figures(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first column is a name, all others are numbers."""
    if not sys.stdout.isatty() or importlib.util.find_spec("rich") is None:
        print_table(heads, rows)
        return
    # Imported only here: Rich is an extra.
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)
