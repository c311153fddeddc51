"""Asking the doctor, and reading its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from howdah.admin.doctor.examination import examine
from howdah.admin.doctor.finding import Finding, Level
from howdah.admin.doctor.limits import Limits
from howdah.db.catalog import Catalog

#: Servers of the test run keep nothing through a crash, on purpose; test_server_checks starts one that does.
EXPECTED = frozenset({"durability"})


@dataclass(frozen=True)
class Diagnosis:
    """All findings of one examination."""

    findings: list[Finding]

    def __getitem__(self, check: str) -> Finding:
        return next(finding for finding in self.findings if finding.check == check)

    @property
    def troubled(self) -> set[str]:
        """The checks that are not well, less what every test server has."""
        return {finding.check for finding in self.findings if finding.level is not Level.OK} - EXPECTED


def diagnose_url(url: str, **limits: Any) -> Diagnosis:
    """Examine the database at that URL, with other limits than the usual where given."""
    return Diagnosis(examine(url, Catalog(), "--url", Limits(**limits)))
