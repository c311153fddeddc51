from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result

from howdah.admin.doctor.examination import CHECKS
from howdah.cli.doctor import doctor
from howdah.model.errors import DatabaseUnavailable, UserError
from tests.conftest import Database

Connection = psycopg.Connection[Any]


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(doctor, arguments, env={"HOWDAH_URL": None, **environment})


def test_one_line_for_each_check(database: Database) -> None:
    result = run("--url", database.url)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.output.splitlines() if not line.startswith(" ")]
    assert [line.split()[1] for line in lines] == [check.name for check in CHECKS]
    assert {line.split()[0] for line in lines} == {"ok", "warn"}
    assert sum(line.lstrip().startswith("→") for line in result.output.splitlines()) == 1


def test_a_failing_check_is_exit_code_1(database: Database, sql: Connection) -> None:
    sql.execute("ALTER TABLE ready SET (autovacuum_enabled = off)")
    result = run("--url", database.url)
    assert result.exit_code == 1
    assert "FAIL  autovacuum" in result.output
    assert "→ reset autovacuum_enabled on table ready" in result.output


def test_json_and_the_environments_url(database: Database) -> None:
    result = run("--json", HOWDAH_URL=database.url)
    assert result.exit_code == 0
    findings = json.loads(result.output)
    assert [finding["check"] for finding in findings] == [check.name for check in CHECKS]
    assert set(findings[0]) == {"check", "level", "message", "next_step"}
    assert "URL from HOWDAH_URL" in findings[0]["message"]


def test_names_from_the_database_play_no_tricks_on_the_terminal(database: Database, sql: Connection) -> None:
    sql.execute("SELECT heartbeat(E'w\\x1b[2J1')")
    result = run("--url", database.url)
    assert "\x1b" not in result.output
    assert "w\N{REPLACEMENT CHARACTER}[2J1" in result.output


def test_another_schema(database: Database) -> None:
    result = run("--url", database.url, "--schema", "elsewhere")
    assert result.exit_code == 1
    assert "no Howdah tables in schema 'elsewhere'" in result.output


@pytest.mark.parametrize("url", ["postgresql://nobody:secret@127.0.0.1:1/nothing", "nonsense:secret"])
def test_a_url_that_leads_nowhere_is_the_users_mistake(url: str) -> None:
    result = run("--url", url)
    assert isinstance(result.exception, UserError)
    assert "secret" not in str(result.exception)


def test_no_database_at_all_is_the_users_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run()
    assert isinstance(result.exception, DatabaseUnavailable)
    assert "HOWDAH_URL" in str(result.exception)
    assert not list(tmp_path.iterdir())
