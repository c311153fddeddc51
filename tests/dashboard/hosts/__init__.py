"""Applications of other frameworks with a dashboard in them, served by `uvicorn tests.dashboard.hosts.NAME:web`."""
