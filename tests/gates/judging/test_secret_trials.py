"""Passwords of trials are let through, others asked about; a provider's token is blocked everywhere."""

from __future__ import annotations

import random
import string

import pytest

from tests.gates.values import token
from tipstaff import EnforcementGates, aggregate_decision


@pytest.fixture(scope="module")
def gates() -> EnforcementGates:
    return EnforcementGates()


def made(length: int = 18) -> str:
    """Return a password that nobody knows."""
    choose = random.Random(7).choice
    return "".join(choose(string.ascii_letters + string.digits) for _ in range(length - 2)) + "#9"


def test_passwords_that_everybody_knows_are_let_through(gates: EnforcementGates) -> None:
    for password in ("Test1234!", "s3cretPw9", "devpass123", "P@ssw0rd1", "Abc12345!"):
        assert gates.evaluate_command(f"PGPASSWORD={password} psql -h db.acme.io -c 'select 1'") == [], password


def test_services_of_this_machine_are_let_through(gates: EnforcementGates) -> None:
    for command in (
        f"curl localhost:3000/login -d 'user=a&password={made()}'",
        f"DATABASE_URL=postgresql://app:{made()}@localhost:5432/app npm test",
        f"DATABASE_URL=postgresql://app:{made()}@db:5432/app npm test",
    ):
        assert aggregate_decision(gates.evaluate_command(command)) == "allow", command


def test_other_services_are_asked_about(gates: EnforcementGates) -> None:
    for command in (
        f"curl https://shop.acme.io/login -d 'user=a&password={made()}'",
        f"DATABASE_URL=postgresql://app:{made()}@db.acme.io:5432/app npm start",
        f"curl http://localhost:1 https://shop.acme.io/login -d 'user=a&password={made()}'",
    ):
        assert aggregate_decision(gates.evaluate_command(command)) == "require-confirmation", command


def test_files_of_tests_are_let_through(gates: EnforcementGates) -> None:
    content = f'password = "{made()}"\n'
    write = {"file_path": "/home/dev/proj/tests/test_login.py", "content": content}
    assert gates.evaluate_tool_use("Write", write) == []
    command = (
        f"cat > docker-compose.test.yml <<'E'\nservices:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {made()}\nE"
    )
    assert aggregate_decision(gates.evaluate_command(command)) == "allow"
    write["file_path"] = "/home/dev/proj/src/login.py"
    assert aggregate_decision(gates.evaluate_tool_use("Write", write)) == "block"


def test_a_providers_token_is_blocked_everywhere(gates: EnforcementGates) -> None:
    write = {"file_path": "/home/dev/proj/tests/test_login.py", "content": f'TOKEN = "{token()}"\n'}
    assert aggregate_decision(gates.evaluate_tool_use("Write", write)) == "block"
    assert aggregate_decision(gates.evaluate_command(f"curl localhost:3000 -H 'X: {token()}'")) == "block"
