"""A private PostgreSQL server for development, demos and tests: finds binaries, starts, shares, stops.
Never creates accounts, never loosens permissions of folders it did not make, never listens on TCP."""
