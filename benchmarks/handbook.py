"""Words and sentence patterns of an invented team's handbook, from which the benchmarks' rule files are made."""

from __future__ import annotations

from typing import Final, NamedTuple


class Area(NamedTuple):
    """A section of the handbook: what its rules are about, where they hold, the letters of their numbers."""

    heading: str
    letters: str
    scope: str
    intent: str
    domain: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


# No heading here opens with a word that makes a section part of the constitution: safety, security, critical, always.
AREAS: Final = (
    Area(
        "HTTP handlers",
        "WEB",
        "src/http/**",
        "feature",
        "architecture",
        _split(
            "request handlers; list endpoints; webhook receivers; upload routes; response serializers; route guards"
        ),
        _split(
            "the error envelope; cursor pagination; an idempotency key; the request id; a body size limit; rate limits"
        ),
    ),
    Area(
        "Tables and queries",
        "DBQ",
        "src/db/**",
        "performance",
        "performance",
        _split("repository methods; report queries; bulk inserts; ledger tables; audit rows; foreign keys"),
        _split(
            "an explicit column list; a covering index; a statement timeout; "
            "one transaction; bound parameters; row locks"
        ),
    ),
    Area(
        "Schema changes",
        "MIG",
        "db/migrations/**",
        "deployment",
        "deployment",
        _split("column drops; backfills; index builds; renamed tables; new constraints; enum changes"),
        _split(
            "two releases; a batch size of 1000; the concurrent form; "
            "a down script; a dry run on staging; the lock budget"
        ),
    ),
    Area(
        "Screens",
        "SCR",
        "web/src/**",
        "feature",
        "general",
        _split("form screens; list views; modal dialogs; empty states; date pickers; price labels"),
        _split(
            "the design tokens; keyboard focus; the shared form hook; "
            "a loading skeleton; visible labels; the grid component"
        ),
    ),
    Area(
        "Sign-in and sessions",
        "SES",
        "src/identity/**",
        "security",
        "security",
        _split("session cookies; password resets; refresh tokens; invitation links; role checks; service accounts"),
        _split(
            "a 15 minute lifetime; constant-time comparison; the audit log; "
            "the key vault; a second factor; same-site flags"
        ),
    ),
    Area(
        "Automated checks",
        "CHK",
        "tests/**",
        "testing",
        "testing",
        _split("unit tests; contract tests; fixtures; browser tests; regression cases; property tests"),
        _split(
            "a fixed clock; the fake mail server; seeded data; "
            "one assertion per behaviour; the recorded cassettes; a temporary folder"
        ),
    ),
    Area(
        "Logs and traces",
        "OBS",
        "src/telemetry/**",
        "debug",
        "debugging",
        _split("log lines; error reports; trace spans; metrics labels; alert thresholds; dashboards"),
        _split(
            "structured fields; the correlation id; bounded cardinality; "
            "the on-call runbook; sampled payloads; redacted addresses"
        ),
    ),
    Area(
        "Queues and jobs",
        "JOB",
        "src/jobs/**",
        "architecture",
        "architecture",
        _split(
            "background workers; nightly exports; retry policies; dead letters; scheduled imports; fan-out consumers"
        ),
        _split(
            "exponential backoff; a visibility timeout; at-least-once delivery; "
            "a poison message limit; the outbox table; a heartbeat"
        ),
    ),
    Area(
        "Payments",
        "PAY",
        "src/payments/**",
        "security",
        "security",
        _split("refunds; card captures; invoice totals; currency conversions; payout files; tax lines"),
        _split(
            "integer minor units; a signed callback; the settlement report; "
            "half-even rounding; the sandbox account; two approvals"
        ),
    ),
    Area(
        "Search",
        "IDX",
        "services/search/**",
        "performance",
        "performance",
        _split("index writers; synonym lists; facet counts; ranking rules; stale documents; query suggestions"),
        _split(
            "a versioned alias; the relevance set; a refresh interval; prefix limits; the reindex script; field weights"
        ),
    ),
    Area(
        "Packages",
        "PKG",
        "package.json",
        "refactor",
        "general",
        _split("new dependencies; lock files; forked libraries; build plugins; vendored code; version ranges"),
        _split(
            "a licence check; the pinned registry; an owner in the team; a size report; a removal date; the update bot"
        ),
    ),
    Area(
        "Releases",
        "REL",
        ".ci/**",
        "deployment",
        "deployment",
        _split("release branches; hotfixes; container images; feature switches; canary steps; changelog entries"),
        _split("a rollback plan; the smoke suite; signed tags; a freeze window; the release captain; image digests"),
    ),
    Area(
        "Pages and guides",
        "DOC",
        "docs/**",
        "docs",
        "general",
        _split("readme files; decision records; code comments; examples in guides; diagrams; glossary entries"),
        _split(
            "a working command; the reason for it; a date; plain words; the current screenshots; a link to the owner"
        ),
    ),
    Area(
        "Mobile clients",
        "MOB",
        "apps/mobile/**",
        "feature",
        "general",
        _split("offline edits; push messages; deep links; crash reports; background sync; camera uploads"),
        _split(
            "a conflict banner; the battery budget; the oldest supported version; "
            "local encryption; a retry queue; permission prompts"
        ),
    ),
    Area(
        "Translations",
        "LNG",
        "locales/**",
        "docs",
        "general",
        _split("message keys; plural forms; number formats; right-to-left layouts; untranslated strings; date formats"),
        _split(
            "the catalogue file; named placeholders; the user's locale; "
            "a translator note; the fallback language; screenshots"
        ),
    ),
    Area(
        "Machines and networks",
        "INF",
        "infra/**",
        "deployment",
        "deployment",
        _split("load balancers; storage buckets; private subnets; backup jobs; access policies; certificates"),
        _split(
            "least privilege; the module registry; a restore drill; encrypted volumes; a plan in review; expiry alarms"
        ),
    ),
)

CONSTITUTION: Final = (
    Area(
        "Safety of customers' data",
        "SAF",
        "src/**",
        "security",
        "security",
        _split(
            "customer exports; production credentials; personal data; "
            "live databases; deletion requests; support sessions"
        ),
        _split(
            "the data owner's consent; an approved ticket; masked copies; a second pair of eyes; the retention table"
        ),
    ),
    Area(
        "Critical invariants",
        "INV",
        "src/**",
        "general",
        "general",
        _split("account balances; tenant boundaries; published events; primary keys; audit history"),
        _split("a tested invariant; append-only writes; the tenant filter; a checksum; an explicit version"),
    ),
)

PATTERNS: Final = (
    "Always give {subject} {object} before {when}",
    "Never merge {subject} without {object}; {reason}",
    "{Subject} must rely on {object}, because {reason}",
    "Do not change {subject} and {object} in the same commit",
    "Prefer {object} over hand-written code for {subject} {where}",
    "Ensure that {subject} keep {object} when {event}",
    "{Subject} should never bypass {object}, even if {event}",
    "Use {object} for {subject} that are touched {where}",
    "Verify {object} for {subject} whenever {event}",
    "Keep {subject} small: {object} should fit on one screen {where}",
    "Write down why {subject} need {object}; {reason}",
    "Avoid {subject} that depend on {object} {where}",
    "Run `{command}` after {subject} change, and check {object}",
    "Every pull request that touches {subject} must mention {object}",
    "Reject {subject} that arrive without {object} {where}",
    "You must ask the owner of {subject} before removing {object}",
    "Only the platform group should ever relax {object} for {subject}",
    "Always document {object} beside {subject}, so that {result}",
    "{Subject} must not be retried unless {object} is in place",
    "When {event}, stop and verify {object} for {subject}",
    "Follow `{file}` for {subject}; it shows {object} in full",
    "Include {object} in the description of changes to {subject}",
    "Don't copy {subject} between services; share {object} instead",
    "Validate {object} at the boundary, before {subject} are stored",
)
WHEN: Final = _split(
    "they reach review; the branch is merged; a release is cut; the first customer sees them; the nightly build"
)
REASONS: Final = _split(
    "the last outage began there; support cannot see it otherwise; a partner reads that value; "
    "it is checked in the audit; "
    "nobody can undo it later; two teams share the table"
)
EVENTS: Final = _split(
    "a deadline is close; the upstream service times out; two requests race; "
    "a worker restarts; the schema is being moved; "
    "a flag is switched off"
)
WHERE: Final = _split(
    "in shared modules; outside the test tree; on the checkout path; in scheduled work; for large tenants; in new code"
)
RESULTS: Final = _split(
    "the next reader finds it; a rollback stays cheap; alerts name the right owner; reviewers can judge it"
)
COMMANDS: Final = _split("make check; npm run lint; pytest -q; make contract; npm test -- --bail; terraform plan")
FILES: Final = _split("docs/handbook/errors.md; src/example.ts; docs/adr/0007.md; tests/README.md; db/README.md")
VERIFIERS: Final = _split("tests-pass; lint-clean; types-pass; contract-pass; review-done")
TOOLS: Final = _split("edit; bash; write; read")
NOTES: Final = (
    "Older code does not follow all of this yet; it is brought over when it is touched.",
    "The team channel decides where two of these pull in different directions.",
    "The examples in the handbook are kept up to date by the people on call.",
)
SECOND_SENTENCES: Final = (
    "Tell the owner when this cannot be done in one go.",
    "An exception needs a line in the pull request.",
    "The linter finds most cases, though not all of them.",
    "Generated files are left out.",
)
TASKS: Final = (
    "fix the crash in {subject} when {event}",
    "add {object} to {subject} {where}",
    "refactor {subject} so that {result}",
    "write tests for {subject} and {object}",
    "speed up {subject}, they are slow for large tenants",
    "document how {subject} use {object}",
    "deploy the change of {subject} with {object}",
    "review the security of {subject} before {when}",
)
