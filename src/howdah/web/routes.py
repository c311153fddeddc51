"""Every address of the dashboard. What changes something is a POST, and stands behind `changing`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from howdah.web.guard import changing, looking
from howdah.web.openapi import openapi
from howdah.web.pages import audit, bulk, entrance, job, jobs, metrics, overview, queues, stream, workers


class KeptFiles(StaticFiles):
    """Files whose address changes with them, so browsers may keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, to be kept if the address names its version."""
        response = await super().get_response(path, scope)
        if "v" in Request(scope).query_params:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        else:
            response.headers["Cache-Control"] = "no-cache"
        return response


def routes() -> list[BaseRoute]:
    """The addresses, below wherever it is mounted."""
    return [
        Route("/", looking(overview.overview)),
        Route("/jobs", looking(jobs.jobs)),
        Route("/jobs/{job_id:uuid}.json", looking(job.job_json)),
        Route("/jobs/{job_id:uuid}", looking(job.job)),
        Route("/jobs/{job_id:uuid}/{action}", changing(job.act), methods=["POST"]),
        Route("/queues", looking(queues.queues)),
        Route("/queues/{verb}", changing(queues.set_pause), methods=["POST"]),
        Route("/bulk", looking(bulk.operations)),
        Route("/bulk", changing(bulk.begin), methods=["POST"]),
        Route("/bulk/preview", changing(bulk.preview), methods=["POST"]),
        Route("/bulk/{operation_id:uuid}", looking(bulk.operation)),
        Route("/bulk/{operation_id:uuid}/{verb}", changing(bulk.steer), methods=["POST"]),
        Route("/audit", looking(audit.audit)),
        Route("/workers", looking(workers.workers)),
        Route("/live", looking(stream.live)),
        Route("/metrics", looking(metrics.metrics)),
        Route("/openapi.json", looking(openapi)),
        Route("/login", entrance.login),
        Route("/logout", entrance.logout, methods=["POST"]),
        Route("/theme", entrance.set_theme, methods=["POST"]),
        Mount("/static", KeptFiles(packages=[("howdah.web", "static")])),
    ]
