"""Tools of servers: judged by their names, and as the commands that they are named after."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tipstaff import EnforcementGates, aggregate_decision

ASK: Final = "require-confirmation"


def decision(tool: str, params: dict[Any, Any]) -> str:
    return aggregate_decision(EnforcementGates().evaluate_tool_use(tool, params, cwd="/home/dev/proj"))


@pytest.mark.parametrize(
    ("tool", "params", "wanted"),
    [
        ("mcp__kubernetes__kubectl_delete", {"resourceType": "namespace", "name": "prod"}, "block"),
        ("mcp__kubernetes__kubectl_generic", {"name": "x", "resourceType": "pvc", "command": "delete"}, ASK),
        ("mcp__gcloud__run_gcloud_command", {"args": ["compute", "instances", "delete", "vm1", "--quiet"]}, ASK),
        ("mcp__aws__call_aws", {"cli_command": "aws ec2 terminate-instances --instance-ids i-123"}, ASK),
        ("mcp__terraform__ExecuteTerraformCommand", {"command": "destroy", "working_directory": "."}, ASK),
        ("mcp__docker__docker", {"args": ["volume", "rm", "pgdata"]}, ASK),
        ("mcp__git__git_reset", {"repo_path": ".", "mode": "hard"}, ASK),
        ("mcp__git__git_push", {"path": ".", "branch": "main", "force": True}, ASK),
        ("mcp__git__git_push", {"path": ".", "branch": "feat/x", "force": False}, "allow"),
        ("mcp__git__git_branch", {"operation": "delete", "branchName": "x", "force": True}, ASK),
        ("mcp__neo4j__write_neo4j_cypher", {"query": "MATCH (n) DETACH DELETE n"}, ASK),
        ("mcp__ssh__execute_command", {"server": "prod", "cmdString": "rm -rf /var/www"}, "block"),
        ("mcp__fs__delete_directory", {"path": "/home/dev/proj/src"}, ASK),
        ("mcp__fs__delete_directory", {"path": "/home/dev/proj/node_modules"}, "allow"),
        ("mcp__db__execute_sql", {"sql": "SELECT 1; DROP TABLE users;"}, ASK),
        ("mcp__db__execute_sql", {"sql": "-- tidy up\nDELETE FROM users"}, ASK),
        ("mcp__neon__run_sql_transaction", {"params": {"sqlStatements": ["SELECT 1", "DROP TABLE users"]}}, ASK),
        ("mcp__docs__ask", {"query": "how do I drop; delete from a table"}, "allow"),
        ("mcp__kubernetes__kubectl_get", {"resourceType": "pods"}, "allow"),
        ("mcp__terraform__execute_terraform_command", {"command": "plan"}, "allow"),
        ("mcp__aws_docs__search_documentation", {"search_phrase": "delete-bucket"}, "allow"),
        ("mcp__git__git_commit", {"repo_path": ".", "message": "reset --hard is bad"}, "allow"),
        ("mcp__git__git_log", {"repo_path": ".", "grep": "push --force"}, "allow"),
        ("mcp__github__create_pull_request", {"title": "Delete old code", "body": "rm -rf /"}, "allow"),
        ("mcp__playwright__browser_click", {"element": "Delete button", "ref": "e1"}, "allow"),
    ],
)
def test_a_call_is_judged_as_what_it_amounts_to(tool: str, params: dict[str, Any], wanted: str) -> None:
    found = decision(tool, params)
    assert found == wanted or (wanted == ASK and found == "block")


@pytest.mark.parametrize("params", [{}, {1: {}}, {"ids": []}, {"id": 7}, {"all": True}])
def test_a_finding_about_the_name_needs_no_parameters(params: dict[Any, Any]) -> None:
    assert decision("mcp__hub__delete_all", params) == ASK
    assert decision("mcp__hub__list_all", params) == "allow"


def test_long_and_odd_names_are_read_as_far_as_they_fit() -> None:
    assert decision("mcp__x__" + "a_" * 5_000 + "delete", {}) == "allow"
    assert decision("mcp__x__delete_" + "a" * 5_000, {}) == ASK
    assert decision("mcp__x__" + "_" * 300, {"a": "b"}) == "allow"
