"""A filter's text: what it means, what is wrong with it and where, and that it can be written down and read again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah import Status
from howdah.admin.filter_text import DATA_LIMIT, IDS_LIMIT, parse_filter, render_filter
from howdah.admin.filters import DataCondition, JobFilter
from howdah.model.errors import FilterError
from howdah.model.priority import HIGHEST_PRIORITY, LOWEST_PRIORITY

ID = UUID("0193a0e4-7c1f-7e2a-9d3b-5f6a7b8c9d0e")


@pytest.mark.parametrize(
    ("text", "meant", "canonical"),
    [
        ("", JobFilter(), ""),
        ("  status=failed ", JobFilter((Status.FAILED,)), "status=failed"),
        ("status=failed,pending,failed", JobFilter((Status.FAILED, Status.PENDING)), "status=failed,pending"),
        ("type=x queue='two words'", JobFilter(job_type="x", queue="two words"), 'type=x queue="two words"'),
        ("worker=box-1", JobFilter(worker_id="box-1"), "worker=box-1"),
        ("priority=50", JobFilter(priority_from=50, priority_to=50), "priority=50"),
        ("priority>50 priority<=100", JobFilter(priority_from=51, priority_to=100), "priority>=51 priority<=100"),
        ("priority<-3", JobFilter(priority_to=-4), "priority<=-4"),
        ("created>90m", JobFilter(created_since=timedelta(minutes=90)), "created>1h30m"),
        ("started>=5", JobFilter(started_since=timedelta(seconds=5)), "started>5s"),
        (
            "completed<2030-01-31T12:00+02:00",
            JobFilter(completed_until=datetime(2030, 1, 31, 10, tzinfo=UTC)),
            "completed<2030-01-31T10:00:00Z",
        ),
        (
            "created<2030-01-31",
            JobFilter(created_until=datetime(2030, 1, 31, tzinfo=UTC)),
            "created<2030-01-31T00:00:00Z",
        ),
        ('error~"timed \\"out\\""', JobFilter(error='timed "out"'), 'error~"timed \\"out\\""'),
        ("data.customer.id = 42", JobFilter(data=(DataCondition(("customer", "id"), "42"),)), "data.customer.id=42"),
        ('data.n="42"', JobFilter(data=(DataCondition(("n",), '"42"'),)), 'data.n="42"'),
        ("data.n=bob", JobFilter(data=(DataCondition(("n",), '"bob"'),)), "data.n=bob"),
        ("data.n=true", JobFilter(data=(DataCondition(("n",), "true"),)), "data.n=true"),
        ("data.n", JobFilter(data=(DataCondition(("n",)),)), "data.n"),
        ("data.'a.b'.c data.d=-1.5e3", JobFilter(data=(DataCondition(("a.b", "c")), DataCondition(("d",), "-1.5e3"))),
            'data."a.b".c data.d=-1.5e3'),
        (f"id={ID}", JobFilter(ids=(ID,)), f"id={ID}"),
    ],
)  # fmt: skip
def test_what_it_means(text: str, meant: JobFilter, canonical: str) -> None:
    assert parse_filter(text) == meant
    assert render_filter(meant) == canonical


@pytest.mark.parametrize(
    ("text", "word", "reason"),
    [
        ("failed", "failed", "there is no field 'failed'; there are status, type"),
        ("type=a stat=failed", "stat=failed", "there is no field 'stat'"),
        ("type.x=a", "type.x=a", "there is no field 'type.x=a'"),
        ("status=bad", "status=bad", "there is no status 'bad'; there are pending, claimed"),
        ("status>failed", "status>failed", "status goes with =, not >"),
        ("status", "status", "status goes with =, and a value"),
        ("status=failed status=pending", "status=pending", "status is said twice"),
        ("priority>=5 priority=7", "priority=7", "priority is said twice"),
        ("type= queue=b", "type=", "has no value after it"),
        ("type =b", "type =", "cannot be read; write field=value"),
        ("type=", "type=", "has no value after it"),
        ('type=""', 'type=""', "a type has 1 to 50 characters, not 0"),
        (f"worker={'w' * 101}", f"worker={'w' * 101}", "a worker has 1 to 100 characters, not 101"),
        ("type!=x", "type!=x", "type goes with =, not !="),
        ("priority=high", "priority=high", "priority takes a whole number, not 'high'"),
        ("priority=99999999999", "priority=99999999999", "they go from -2147483648 to 2147483647"),
        ("priority>2147483647", "priority>2147483647", "no priority can be there"),
        ("created>soon", "created>soon", "'soon' is no time; write 2h or 3d"),
        ("created=2h", "created=2h", "created goes with > or >= or < or <=, not ="),
        ("created>0001-01-01T00:00+14:00", "created>0001-01-01T00:00+14:00", "is no time"),
        ("error=timeout", "error=timeout", "error goes with ~, not ="),
        ("error~''", "error~''", "is empty"),
        ('error~"timed out', 'error~"timed out', "has a quote that is not closed"),
        ('error~"timed"out', 'error~"timed"out', "goes on after its closing quote"),
        ('error~ti"med', 'error~ti"med', "put quotes around the whole value"),
        (r'error~"\z"', r'error~"\z"', "has a backslash that means nothing"),
        (r'error~"\u0000"', r'error~"\u0000"', "has a NUL character"),
        ("id=7", "id=7", "'7' is not a job id"),
        (f"id={ID},", f"id={ID},", "'' is not a job id"),
        ("data=4", "data=4", "name a place in the arguments, such as data.customer.id"),
        ("data..a=4", "data..a=4", "name a place in the arguments"),
        ("data.a>4", "data.a>4", "data goes with =, not >"),
        ("data.a==4", "data.a==4", "put quotes around the whole value"),
        (f"data{'.a' * 21}=1", f"data{'.a' * 21}=1", "is too much"),
        ('"x"', '"x"', "cannot be read"),
        ("= 5", "=", "has no value after it"),
    ],
)
def test_what_is_wrong_and_where(text: str, word: str, reason: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(text)
    error = caught.value
    assert error.word == word
    assert reason in error.reason
    assert error.reason in str(error)
    assert text[error.start : error.end].strip() == word
    assert error.field == "" or word.startswith(error.field)


def test_too_much_of_it() -> None:
    with pytest.raises(FilterError, match="4,001 characters"):
        parse_filter("x" * 4001)
    with pytest.raises(FilterError, match="NUL"):
        parse_filter("type=\0")
    with pytest.raises(FilterError, match="at most 20 conditions on data"):
        parse_filter(" ".join(f"data.n{n}" for n in range(DATA_LIMIT + 1)))
    assert IDS_LIMIT * 37 > 4000, "as text, the length of all comes first"


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
moments = st.one_of(
    st.integers(0, 10**12).map(lambda n: timedelta(milliseconds=n)),
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)).map(lambda time: time.replace(tzinfo=UTC)),
)
numbers = st.one_of(
    st.integers(-(10**20), 10**20).map(str), st.floats(allow_nan=False, allow_infinity=False).map(json.dumps)
)
values = st.one_of(st.none(), names.map(json.dumps), st.just('""'), numbers, st.sampled_from(["true", "false", "null"]))
conditions = st.builds(DataCondition, st.lists(names, min_size=1, max_size=3).map(tuple), values)
priorities = st.none() | st.integers(LOWEST_PRIORITY, HIGHEST_PRIORITY)
filters = st.builds(
    JobFilter,
    statuses=st.lists(st.sampled_from(Status), unique=True).map(tuple),
    job_type=st.none() | names,
    queue=st.none() | names,
    worker_id=st.none() | names,
    priority_from=priorities,
    priority_to=priorities,
    created_since=st.none() | moments,
    created_until=st.none() | moments,
    started_since=st.none() | moments,
    completed_until=st.none() | moments,
    error=st.none() | names,
    data=st.lists(conditions, unique=True, max_size=3).map(tuple),
    ids=st.lists(st.uuids(), unique=True, max_size=3).map(tuple),
)


@given(filters)
def test_written_down_it_reads_back_the_same(wanted: JobFilter) -> None:
    text = render_filter(wanted)
    assert parse_filter(text) == wanted
    assert render_filter(parse_filter(text)) == text


@given(st.text(max_size=60) | st.text("statusdaerortyp.=~<>!\"' \\,0", max_size=40))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    wanted = read_or_error(text)
    if isinstance(wanted, FilterError):
        assert wanted.reason
        assert 0 <= wanted.start <= wanted.end <= len(text)
    else:
        assert parse_filter(render_filter(wanted)) == wanted


def read_or_error(text: str) -> JobFilter | FilterError:
    try:
        return parse_filter(text)
    except FilterError as error:
        return error
