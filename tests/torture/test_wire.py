"""The proxy's idea of PostgreSQL's protocol."""

from __future__ import annotations

from torture.wire import Conversation, Cutter


def message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


STARTUP = message(b"", b"\0\3\0\0user\0howdah\0\0")
READY = message(b"Z", b"I")


def test_messages_are_cut_however_they_come() -> None:
    stream = STARTUP + message(b"Q", b"SELECT 1\0") + message(b"X", b"")
    for size in (1, 2, 3, 7, len(stream)):
        cutter = Cutter(startup=True)
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        found = [message for piece in pieces for message in cutter.feed(piece)]
        assert [kind for kind, _ in found] == [b"", b"Q", b"X"]
        assert found[1][1] == b"SELECT 1\0"


def test_a_prepared_statement_is_known_by_its_text_when_it_is_used_again() -> None:
    talk = Conversation()
    talk.client_says(STARTUP)
    assert talk.server_says(message(b"R", b"\0\0\0\0") + READY) == []
    bind = message(b"B", b"\0_pg3_0\0\0\0") + message(b"E", b"\0\0\0\0\0") + message(b"S", b"")
    talk.client_says(message(b"P", b"_pg3_0\0SELECT complete_jobs()\0\0\0") + bind)
    assert talk.server_says(message(b"C", b"SELECT 1\0") + READY) == ["SELECT complete_jobs()"]
    talk.client_says(bind)
    assert talk.server_says(message(b"C", b"SELECT 1\0") + READY) == ["SELECT complete_jobs()"]


def test_what_failed_or_is_still_open_is_not_committed() -> None:
    talk = Conversation()
    talk.client_says(STARTUP + message(b"Q", b"INSERT INTO jobs\0"))
    assert talk.server_says(message(b"E", b"SERROR\0\0") + READY) == []
    talk.client_says(message(b"Q", b"INSERT INTO jobs\0"))
    assert talk.server_says(message(b"C", b"INSERT 0 1\0") + message(b"Z", b"T")) == []
    talk.client_says(message(b"Q", b"COMMIT\0"))
    assert talk.server_says(message(b"C", b"COMMIT\0") + READY) == ["INSERT INTO jobs", "COMMIT"]
