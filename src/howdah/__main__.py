"""`python -m howdah` is the same as `howdah`."""

from howdah.cli.main import run

run()
