"""What a build made is recognised by its name and its company; what people wrote beside it is still asked about."""

from __future__ import annotations

import pytest

from tipstaff import EnforcementGates, GateConfig, aggregate_decision

GATES = EnforcementGates(GateConfig())

PASSES = [
    # The words of a name, the release that it was packed for, the manual that was made from comments.
    "rm -rf ncat-build test_build output generated", "rm -rf bzip2-1.0.8 libfoo-2.1rc1", "rm -rf docs/html doc/latex", "rm -rf tests/output", "rm -rf gen-cpp gen-*",
    "rm -rf html latex", "rm -rf doc doc-stamp", "rm -rf .dev-venv .doc-tmp-dir", "rm -rf app.log app.toc",
    # Beside by-products.
    "rm -rf *.o *~ prog", "rm -rf .deps .libs *.la *.o opal_thread Makefile", "rm -f core core.* *.mo", "rm -rf *.aux *.toc *.log *.pdf", "rm -f *.o *.bin *.elf",
    "rm -f proj-*.tar.gz ./proj_*.tar.xz", "rm -f *~ '#'*", "rm -f moc_*.moc fort.*", "rm -rf foo.py argp/config.status",
    # Tools that delete what JavaScript is built to, and caches that a tool names.
    "rimraf lib", "rimraf ./lib es types dist", "npx rimraf 'lib/**/*.js'", "shx rm -rf lib && tsc", "rm -rf $(brew --cache)", "rm -rf \"$(go env GOCACHE)\"",
    "rm -rf coverage lib dist", "rimraf lib types typedocs coverage gh-pages yarn-error.log", "rimraf lib/__tests__ 'lib/**/__tests__'",
    # Written anew from other folders by what follows.
    "rm -rf doc; jsdoc src README.md -d doc", "rm -rf lib && babel src --out-dir lib", "rm -rf ./bundle && npx esbuild a.ts --outdir=bundle", "rm -rf site\nmkdocs build --site-dir site",
    "rm -rf lib && tsc", "rm -rf *.egg-info *.log .eggs/", "rm -rf build dist MANIFEST", "rm -rf build README.html docs/a.html", "rm -rf install-temp blib", "rm -f po/*.mo po/*.pot",
    # By-products of another folder; what is installed beside the system's own.
    "rm -f ../../lib/*.pyc", "rm -rf ../../x/y/__pycache__ ../other/node_modules", "cd ../.. && rm -rf autom4te.cache && ./autogen.sh", "install -D -m 644 a.8 /usr/share/man/man8/a.8", "cp a.h /usr/local/include/a.h",
    "chmod -R u-w testing",
]  # fmt: skip
ASKS = [
    "rm -rf build-tools", "rm -rf docker-build", "rm -rf pre-build", "rm -rf src/output", "rm -rf packages/http-cache", "rm -rf api-1.2", "rm -rf data-1.0.3", "rm -rf notes-2024.05",
    "rm -rf vendor/zlib-1.2.11", "rm -rf html", "rm -rf latex", "rm -rf html latex src", "rm -rf doc/guide", "rm -rf doc doc-stamp src", "rm -rf data data-stamp",
    "rm -rf *.o src", "rm -rf *.o lib", "rm -rf *.o *~ tests", "rm -rf *.o packages/payments", "rm -rf *.aux *.tex", "rm -f *.aux *.bib", "rm -f *.o src/*.c", "rm -rf *.o \"$X\"", "rm -rf *.o data.sqlite",
    "rm -f *.tar.gz", "rm -f backup-*.tar.gz", "rm -f db-dump_*.tar.gz", "rm -f user_*.py", "rm -f invoice_*.pdf", "rm -f conftest*", "rm -f core*", "rm -f *.log.py", "rm -rf a.py src",
    "rimraf src", "rimraf lib src", "rimraf lib/core", "rimraf 'src/**/*.ts'", "rimraf types src/types", "shx rm -rf lib src", "rm -rf lib && make",
    "rm -rf src && babel src -d src", "rm -rf src && tsc", "rm -rf core && tsc", "rm -rf lib && make", "chown -R root:root /usr/share/app", "rm -rf build src README.html", "rm -rf doc; jsdoc src -d docs", "rm -rf data && mkdir data", "rm -rf lib && cp -r src lib", "rm -rf doc; echo jsdoc src -d doc", "rm -rf doc && cd x && jsdoc src -d doc",
    "rm -rf docs && babel docs/src -d docs", "rm -rf \"$X\" && babel src -d \"$X\"", "rm -rf ../doc && jsdoc src -d ../doc", "rm -rf lib src && babel a -d lib",
    "rm -rf $(brew --prefix)", "rm -rf $(go env GOPATH)", "rm -rf $(npm root -g)", "rm -rf $(brew --cache x)",
    "rm -f ../../NEWS.bak", "for p in $X; do rm -f /usr/local/share/pixmaps/app/$p; done", "install -m 755 x /usr/bin/python3", "chmod -R a-r src", "dd if=i.img of=/dev/sdX bs=1M",
]  # fmt: skip
FORBIDDEN = [
    "rm -rf *.o .git", "rm -rf *.o .claude/settings.json .claude", "rm -f /usr/bin/$p", "rm -f ../../../etc/passwd", "rm -rf ../..", "rm -f /usr/local/lib/*.so", "rm -rf /usr/local/share",
    "dd if=i.img of=/dev/sda", "rm -rf ~/node_modules/..", "rm -rf build-1.2/../.git", "chown -R dev /usr/share", "chown -R dev /usr", "chown -R dev /usr/share/..", "rm -rf . && babel src -d .", "rm -rf ~ && babel src -d ~",
]  # fmt: skip


def decision(command: str) -> str:
    return aggregate_decision(GATES.evaluate_command(command, cwd="/home/dev/proj"))


@pytest.mark.parametrize("command", PASSES)
def test_what_a_build_made_is_deleted_without_asking(command: str) -> None:
    assert decision(command) in {"allow", "warn"}


@pytest.mark.parametrize("command", ASKS)
def test_what_people_may_have_written_is_asked_about(command: str) -> None:
    assert decision(command) == "require-confirmation"


@pytest.mark.parametrize("command", FORBIDDEN)
def test_what_nobody_can_want_is_forbidden(command: str) -> None:
    assert decision(command) == "block"
