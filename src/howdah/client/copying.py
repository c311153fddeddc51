"""The rows of a COPY in PostgreSQL's binary form.

Not in its text form: at an error, whatever it is, PostgreSQL logs the line of text that it was at, and with it the
beginning of a job's arguments. In the binary form it logs the line's number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from struct import Struct
from uuid import UUID

#: What is made while the server takes in the part before.
_ROWS_PER_WRITE = 1000
_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_FIRST_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_length = Struct(">i").pack
_whole_number = Struct(">ii").pack
_time = Struct(">iq").pack
#: Seven columns, of which the first has 16 bytes.
_ROW = b"\x00\x07" + _length(16)
#: The version of jsonb's binary form: the text follows.
_JSONB = b"\x01"


@dataclass(frozen=True, slots=True)
class CopyRows:
    """Jobs of one type, in the order of the columns of client/enqueue_copy.sql."""

    ids: Sequence[UUID]
    job_type: str
    data: Sequence[str]
    priority: int
    queue: str
    run_at: datetime | None
    max_attempts: int

    def __call__(self, encoding: str) -> Iterator[bytes]:
        """What to send over a connection of that encoding."""
        job_type = _text(self.job_type, encoding)
        due = _NULL if self.run_at is None else _time(8, (self.run_at - _FIRST_DAY) // timedelta(microseconds=1))
        tail = _whole_number(4, self.priority) + _text(self.queue, encoding) + due + _whole_number(4, self.max_attempts)
        yield _HEAD
        for start in range(0, len(self.ids), _ROWS_PER_WRITE):
            chunk = slice(start, start + _ROWS_PER_WRITE)
            parts: list[bytes] = []
            for job_id, text in zip(self.ids[chunk], self.data[chunk], strict=True):
                data = text.encode(encoding)
                parts += (_ROW, job_id.bytes, job_type, _length(len(data) + 1), _JSONB, data, tail)
            yield b"".join(parts)
        yield _END


def _text(text: str, encoding: str) -> bytes:
    data = text.encode(encoding)
    return _length(len(data)) + data
