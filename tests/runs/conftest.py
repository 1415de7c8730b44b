from __future__ import annotations

import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.runs import postgresql
from tests.runs.made import KEY
from tipstaff.runs import Ledger


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    if postgresql.programs() is None or find_spec("psycopg") is None:
        pytest.skip("no PostgreSQL is installed here")
    with postgresql.server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new, empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url

    server = make_url(request.getfixturevalue("postgresql_server")).set(drivername="postgresql+psycopg")
    name = f"ledger_{uuid.uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"))
    engine.dispose()
    return server.set(database=name).render_as_string()


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    with Ledger(url, key=KEY) as ledger:
        yield ledger
