"""Requests that schemathesis makes from the dashboard's OpenAPI description, those that fit it and those that break it:
no fault of the server's, and no answer that the description does not foresee.

Beside test_fuzz.py, whose requests are made of hostile words. A few hundred in `make test`; HOWDAH_FUZZ_REQUESTS asks
for more, as `make fuzz-ui` does.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import psycopg
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from howdah import Howdah
from howdah.web.openapi import DESCRIPTION
from tests.dashboard.asgi import Answer, Caller, call
from tests.dashboard.test_fuzz import REQUESTS, SEED, judge, make_jobs

Sql = psycopg.Connection[Any]
HOST = "http://127.0.0.1:8800"
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
FOUND = list(schemathesis.openapi.from_dict(DESCRIPTION).get_all_operations())
OPERATIONS = [found.ok() for found in FOUND if isinstance(found, Ok)]


@st.composite
def cases(draw: st.DrawFn, operation: APIOperation[Any, Any, Any, Any], jobs: list[UUID], token: str) -> Case[Any]:
    """A request as described, or one that is not; with ids that exist and with our own token, most of the time."""
    modes = list(GenerationMode) if varies(operation) else [GenerationMode.POSITIVE]
    case: Case[Any] = draw(operation.as_strategy(generation_mode=draw(st.sampled_from(modes))))
    if "job_id" in (case.path_parameters or {}) and draw(st.booleans()):
        case.path_parameters["job_id"] = str(draw(st.sampled_from(jobs)))
    if isinstance(case.body, dict) and draw(st.integers(0, 9)):
        case.body["csrf"] = token
    return case


def varies(operation: APIOperation[Any, Any, Any, Any]) -> bool:
    """Whether there is anything to choose."""
    return bool(operation.path_parameters or operation.query or operation.body)


def make_cases(wanted: int, jobs: list[UUID], token: str) -> list[Case[Any]]:
    """As many for each address, and more of those that take the most until there are enough."""
    made: list[Case[Any]] = []
    rich = [operation for operation in OPERATIONS if varies(operation)]
    turn = 0
    while len(made) < wanted:
        for operation in OPERATIONS if turn == 0 else rich:

            @seed(SEED + turn)
            @settings(
                max_examples=max(5, (wanted - len(made)) // len(rich) if turn else wanted // len(rich)),
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=cases(operation, jobs, token))
            def collect(case: Case[Any]) -> None:
                made.append(case)

            collect()
        turn += 1
    return made


def prepared(case: Case[Any], headers: dict[str, str]) -> requests.PreparedRequest:
    """What would go over the wire."""
    words = case.as_transport_kwargs(base_url=HOST)
    words.pop("timeout", None)
    sent = {name: value for name, value in words.pop("headers").items() if name.lower() != "cookie"}
    words.pop("cookies", None)
    return requests.Request(headers={**sent, **headers}, **words).prepare()


async def sent(app: Any, request: requests.PreparedRequest) -> Answer:
    body = request.body or b""
    headers = {name.lower(): str(value) for name, value in request.headers.items()}
    data = body.encode() if isinstance(body, str) else body
    assert isinstance(data, bytes), "no streams"
    return await call(app, str(request.method), str(request.url).removeprefix(HOST), headers, data)


def as_response(answer: Answer, request: requests.PreparedRequest) -> Response:
    headers = {name: [value] for name, value in answer.headers.items()}
    return Response(answer.status, headers, answer.body, request, elapsed=0.0, verify=False)


async def test_the_server_does_as_its_description_says(app: Howdah, caller: Caller, sql: Sql) -> None:
    jobs = await make_jobs(sql)
    statuses: Counter[int] = Counter()
    asked: set[str] = set()
    for case in make_cases(REQUESTS, jobs, caller.token):
        request = prepared(case, caller.headers)
        answer = await sent(caller.app, request)
        judge(answer, (SEED, request.method, request.url, request.body))
        case.validate_response(as_response(answer, request), checks=CHECKS)
        statuses[answer.status] += 1
        asked.add(f"{case.method} {case.path}")
    print(
        f"\n{statuses.total():,} requests by schemathesis with seed {SEED}, by status: {dict(sorted(statuses.items()))}"
    )
    assert len(asked) == len(FOUND), "every address was asked"
    assert statuses[200] > REQUESTS // 20, statuses
    assert statuses[400] > REQUESTS // 40, statuses
