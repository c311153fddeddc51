"""Pydantic models wherever a value may be, and everything else without pydantic."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import ipaddress
import subprocess
import sys
import uuid
from typing import Annotated, Any

import pydantic
import pytest

from howdah.model.errors import ArgumentError, PayloadError
from howdah.payload.json_text import to_json
from tests.payload.payload_cases import name_of_case, taking, there_and_back


class Video(pydantic.BaseModel):
    id: int
    at: dt.datetime | None = None
    size: float = pydantic.Field(default=0, alias="sizeInMb")


class LongVideo(Video):
    chapters: int = 1


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, extra="forbid")
    day: dt.date

    @pydantic.computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property; pydantic does
    @property
    def year(self) -> int:
        return self.day.year


class Secret(pydantic.BaseModel):
    token: pydantic.SecretStr


@dataclasses.dataclass
class Holder:
    video: Video
    by_name: dict[str, list[Video]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Left:
    x: int


@dataclasses.dataclass
class Twin:
    x: int


class Mood(enum.StrEnum):
    CALM = "calm"


class Odd(enum.Enum):
    HALF = 0.5


VIDEO = Video(id=1, at=dt.datetime(2024, 1, 1, tzinfo=dt.UTC), sizeInMb=1.5)

CASES: list[tuple[Any, object]] = [
    (Video, VIDEO),
    (Video | None, None),
    (list[Video], [VIDEO, Video(id=2)]),
    (dict[int, Video], {1: VIDEO}),
    (Holder, Holder(VIDEO, {"a": [VIDEO]})),
    (Strict, Strict(day=dt.date(2024, 1, 1))),
    (Video | Strict, Strict(day=dt.date(2024, 1, 1))),
    (str | uuid.UUID, uuid.UUID(int=1)),
    (ipaddress.IPv4Address, ipaddress.IPv4Address("1.2.3.4")),
    (list[ipaddress.IPv4Address], [ipaddress.IPv4Address("1.2.3.4")]),
    (Odd, Odd.HALF),
    (Annotated[int, pydantic.Field(gt=3)], 5),
]


@pytest.mark.parametrize(("annotation", "value"), CASES, ids=[name_of_case(case) for case in CASES])
def test_what_pydantic_knows_comes_back_as_it_went_in(annotation: Any, value: object) -> None:
    back = there_and_back(annotation, value)
    assert back == value
    assert type(back) is type(value)


def test_a_computed_field_is_shown_in_a_result_but_not_stored_as_an_argument() -> None:
    value = Strict(day=dt.date(2024, 1, 1))
    assert to_json([value], what="result") == '[{"day":"2024-01-01","year":2024}]'
    assert taking(Strict).encode((value,), {}) == '{"it":{"day":"2024-01-01"}}'


def test_a_masked_secret_is_refused_as_an_argument() -> None:
    with pytest.raises(PayloadError, match=r"^handler: it\[0\]\.token does not come back from JSON as it went"):
        taking(list[Secret]).encode(([Secret(token=pydantic.SecretStr("x"))],), {})


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (Video, 5, "it does not fit: input should be an object; it is declared as"),
        (list[Video], [{"id": "x"}], "it[0].id does not fit: input should be a valid integer"),
        (list[Video], [LongVideo(id=1)], "it[0] is a LongVideo, which would come back as a Video"),
        (Annotated[int, pydantic.Field(gt=3)], 2, "it does not come back from JSON: Input should be greater"),
        (str | uuid.UUID, 5, "it "),
    ],
)
def test_a_value_that_does_not_fit_a_model_is_refused(annotation: Any, value: object, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        taking(annotation).encode((value,), {})
    assert str(caught.value).startswith(f"handler: {message}")


def test_a_union_that_cannot_tell_its_members_apart_is_refused() -> None:
    assert there_and_back(Left | Twin, Left(1)) == Left(1)
    with pytest.raises(PayloadError, match=r"^handler: it comes back from JSON as another value, of type Left$"):
        taking(Left | Twin).encode((Twin(1),), {})
    with pytest.raises(PayloadError, match=r"^handler: it comes back from JSON as another value, of type str$"):
        taking(str | Mood).encode((Mood.CALM,), {})


def test_nan_in_a_model_is_named_with_its_path() -> None:
    with pytest.raises(PayloadError, match=r"^handler: it\[0\]\.sizeInMb is NaN, which JSON cannot hold$"):
        taking(list[Video]).encode(([Video(id=1, sizeInMb=float("nan"))],), {})
    with pytest.raises(PayloadError, match=r"^result: videos\[0\]\.sizeInMb is NaN, which JSON cannot hold$"):
        to_json({"videos": [Video(id=1, sizeInMb=float("nan"))]}, what="result")


def test_a_model_that_contains_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises((PayloadError, ArgumentError), match="it cannot be stored"):
        taking(Video).encode((Video.model_construct(id=endless),), {})


WITHOUT = """
import sys
sys.modules["pydantic"] = None
import dataclasses, datetime as dt, enum, ipaddress, json, pathlib
from howdah.model.errors import OptionError, PayloadError
from howdah.payload.json_text import to_json
from howdah.payload.signature import read_signature

class Colour(enum.Enum):
    RED = "red"

@dataclasses.dataclass
class Video:
    id: int
    at: dt.datetime
    colour: Colour

def handler(ctx: object, video: Video, path: pathlib.Path): ...
signature = read_signature(handler, object)
assert signature.takes_context
given = {"video": Video(1, dt.datetime(2024, 1, 1), Colour.RED), "path": pathlib.Path("a")}
assert signature.decode(json.loads(signature.encode((), given))) == ((), given)
assert to_json([given], what="x")

def foreign(ip: ipaddress.IPv4Address): ...
try:
    read_signature(foreign, type)
except OptionError as error:
    assert "parameter 'ip'" in str(error), error
else:
    raise SystemExit("accepted")
try:
    to_json([object()], what="x")
except PayloadError as error:
    assert str(error) == "x: [0] is of type object, which cannot be stored as JSON", error
else:
    raise SystemExit("accepted")
"""


def test_everything_else_works_without_pydantic() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_the_room_does_not_import_pydantic() -> None:
    probe = "import sys, howdah.payload.signature; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe]).returncode == 0
