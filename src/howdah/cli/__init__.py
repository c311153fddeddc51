"""The `howdah` command, one file per command group. Output is data on stdout; talk goes to stderr."""
