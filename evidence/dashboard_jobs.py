"""The job that workers are busy with while people look on."""

from __future__ import annotations

from howdah import Howdah

app = Howdah()


@app.job(queue="watched")
async def nothing(n: int) -> None:
    """As little as a job can be."""
