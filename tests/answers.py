"""What a `howdah` command said, for whoever runs one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    def must_work(self) -> Answer:
        assert self.code == 0, self
        return self

    def must_be_refused(self, *words: str) -> None:
        """One line on stderr with these words, nothing on stdout, exit code 2."""
        assert self.code == 2, self
        assert self.err.startswith("howdah: "), self
        assert self.err.count("\n") == 1, self
        assert self.out == "", self
        for word in words:
            assert word in self.err, self
