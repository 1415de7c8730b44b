"""The registry of what can be found in a rule file: one stable code, one meaning, one example each.

The example of an entry is a whole small file that makes the finding appear, which a test holds; the page
``docs/diagnostics.md`` is written from this registry, which another test holds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tipstaff.model import Diagnostic, Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class Kind(NamedTuple):
    """What a code means.

    Attributes
    ----------
    name
        Kebab-case name, as stable as the code.
    severity
        Severity unless the finding says otherwise.
    summary
        One sentence: what was found.
    why
        Why an author should care.
    fix
        What would be right.
    example
        The text of a ``CLAUDE.md`` that shows it, or files: path to text.
    """

    name: str
    severity: Severity
    summary: str
    why: str
    fix: str
    example: dict[str, str] | str

    @property
    def files(self) -> dict[str, str]:
        """The files of the example: path to text."""
        return {"CLAUDE.md": self.example} if isinstance(self.example, str) else self.example


KINDS: Final[dict[str, Kind]] = {
    # 1xx: files
    "TS101": Kind(
        "not-utf8",
        ERROR,
        "The file is not UTF-8 text.",
        why="Nothing in it reaches the model; guessing an encoding could change what a rule says.",
        fix="Save the file as UTF-8.",
        example="- Never commit caf\udce9 menus\n",
    ),
    "TS102": Kind(
        "file-too-large",
        ERROR,
        "The file is larger than a rule file may be.",
        why="It does not fit into any model's context window, so it is not read.",
        fix="Split it into scoped rule files.",
        example="<a file of more than 16 MiB>",
    ),
    "TS103": Kind(
        "import-missing",
        ERROR,
        "An imported file does not exist or cannot be read.",
        why="The rules that the author meant to include are missing, and the host does not report it.",
        fix="Correct the path (relative to the importing file) or remove the import.",
        example="Rules of the team: @docs/team-rules.md\n",
    ),
    "TS104": Kind(
        "import-cycle",
        ERROR,
        "An import leads back to a file that is being read.",
        why="The file is read once; the second mention adds nothing.",
        fix="Remove one of the imports.",
        example={"CLAUDE.md": "@docs/a.md\n", "docs/a.md": "- Always sign tags\n\n@../CLAUDE.md\n"},
    ),
    "TS105": Kind(
        "import-too-deep",
        ERROR,
        "Imports are nested more than 5 deep.",
        why="The host stops there, so what lies deeper never reaches the model.",
        fix="Import the deepest files from the top file.",
        example={"CLAUDE.md": "@1.md\n", **{f"{n}.md": f"@{n + 1}.md\n" for n in range(1, 7)}, "7.md": "- Always x\n"},
    ),
    "TS106": Kind(
        "front-matter-invalid",
        ERROR,
        "The front matter is not valid YAML, or is not a mapping.",
        why="Its scope is lost: the rules apply everywhere, or nowhere, depending on the host.",
        fix="Quote values that begin with * or contain a colon.",
        example={".cursor/rules/api.mdc": "---\nglobs: [src/**\n---\n- Always validate input\n"},
    ),
    "TS107": Kind(
        "front-matter-value",
        WARNING,
        "A front-matter key or its value is none that the host reads.",
        why="The host ignores it, so the scope is not what the author thinks.",
        fix="Begin the file with closed front matter, and write the keys of its host as they are documented.",
        example={".claude/rules/api.md": "---\npaths:\n  - 7\n---\n- Always validate input\n"},
    ),
    "TS108": Kind(
        "fence-unclosed",
        WARNING,
        "A code fence is never closed.",
        why="Everything below it is code, and code is never a rule.",
        fix="Close the fence.",
        example="- Always lint\n\n```sh\nmake lint\n\n- Never push red builds\n",
    ),
    "TS109": Kind(
        "file-empty",
        INFO,
        "The rule file has no text.",
        why="It is read on every turn for nothing, or its contents were lost.",
        fix="Delete it or write the rules.",
        example={"CLAUDE.md": "- Always lint\n", "AGENTS.md": "\n"},
    ),
    "TS110": Kind(
        "import-outside",
        WARNING,
        "An import points outside the repository.",
        why="Other people's machines do not have the file, so the rules differ from machine to machine.",
        fix="Move the file into the repository, or put personal rules into CLAUDE.local.md.",
        example="@~/my-rules.md\n\n- Always lint\n",
    ),
    "TS111": Kind(
        "file-unreadable",
        ERROR,
        "A rule file exists but cannot be opened.",
        why="None of its rules reaches the model.",
        fix="Make it a regular file that its owner can read.",
        example="<a dangling symbolic link>",
    ),
    "TS112": Kind(
        "repository-too-large",
        ERROR,
        "The repository has more folders or rule files than are searched.",
        why="Rule files beyond the limit are not read.",
        fix="Run tipstaff in the folder whose rules you want.",
        example="<a repository of more than 200,000 folders>",
    ),
    # 2xx: words that are no rule, and why
    "TS201": Kind(
        "heading-malformed",
        WARNING,
        "A line looks like a heading but is not one in Markdown.",
        why="The section that it should open does not exist; the rules below it are not protected as intended.",
        fix="One to six # and a space.",
        example="#Security\n- Never log tokens\n",
    ),
    "TS202": Kind(
        "rule-in-comment",
        INFO,
        "An HTML comment contains words that read like a rule.",
        why="Comments are not rules; some hosts remove them before the model sees them.",
        fix="Move the rule out of the comment or delete it.",
        example="<!-- You must never push to main. -->\n- Always lint\n",
    ),
    "TS205": Kind(
        "label-without-items",
        WARNING,
        "A list item or sentence ends with a colon and nothing follows that belongs to it.",
        why="The model reads a beginning without an end.",
        fix="Indent the items that belong to it, or finish the sentence.",
        example="- You must never:\n- Always lint\n",
    ),
    "TS206": Kind(
        "struck-out",
        INFO,
        "The item is struck out.",
        why="It is not a rule any more, but a model still reads the words.",
        fix="Delete it.",
        example="- ~~Never use yarn~~\n- Always use pnpm\n",
    ),
    "TS207": Kind(
        "quotation",
        INFO,
        "The item is in a block quotation without a label.",
        why="A quotation repeats somebody's words; it is not read as a rule.",
        fix="Remove the > or begin the quotation with [!IMPORTANT].",
        example="> - Never quote me\n\n- Always quote sources\n",
    ),
    "TS208": Kind(
        "id-missing",
        INFO,
        "The rule has no id and generated ids are switched off.",
        why="It is left out of the bundle.",
        fix="Give it an id such as [SEC-001], or switch auto_generate_ids on.",
        example="- Never commit secrets\n",
    ),
    "TS209": Kind(
        "item-empty",
        INFO,
        "A list item has no words of its own.",
        why="Nothing in it can be a rule.",
        fix="Remove it, or write what was intended.",
        example="- \n- Always lint\n",
    ),
    "TS210": Kind(
        "example-mark",
        INFO,
        "The item is only an example, a link or a command.",
        why="There is no sentence in it that tells anybody what to do.",
        fix="Say when and how to use it.",
        example="- `make test`\n- Always lint\n",
    ),
    # 3xx: annotations
    "TS301": Kind(
        "priority-out-of-range",
        WARNING,
        "A priority is beyond the range 0 to 9999.",
        why="It was cut to the nearest end of the range.",
        fix="Use a priority between 0 and 100.",
        example="- Always lint priority:999999999999\n",
    ),
    "TS302": Kind(
        "annotation-unknown",
        WARNING,
        "Something looks like an annotation but has no known value.",
        why="It stays part of the rule's text and has no effect.",
        fix="Use one of the known values.",
        example="- Always lint risk:severe\n",
    ),
    "TS303": Kind(
        "verifier-repeated",
        WARNING,
        "The rule has a second verifier.",
        why="A rule has one verifier; the later one is read as part of its text.",
        fix="Put further verifiers directly beside the first, at the end of the rule.",
        example="- Always test verify:unit and verify:types\n",
    ),
    "TS304": Kind(
        "date-invalid",
        ERROR,
        "A from: or until: date is not a date, or the period ends before it begins.",
        why="The rule is treated as if it had no such date.",
        fix="Write ISO dates, from:2026-12-01 until:2027-01-15.",
        example="- Never merge to main from:2026-12-20 until:2026-12-01\n",
    ),
    "TS305": Kind(
        "not-in-force",
        INFO,
        "The rule is not in force today.",
        why="It is neither in the constitution nor retrieved.",
        fix="Delete it when its time is over.",
        example="- Never merge to main from:2001-12-01 until:2002-01-15\n",
    ),
    "TS306": Kind(
        "id-duplicate",
        ERROR,
        "Two rules of one file set share an id.",
        why="Whatever refers to the id may mean either; the earlier one was given another id.",
        fix="Give one of them a new id.",
        example="- [SEC-001] Never log tokens\n- [SEC-001] Always rotate keys\n",
    ),
    "TS307": Kind(
        "rule-empty",
        WARNING,
        "The rule has an id or annotations but no words.",
        why="There is nothing that a model could follow.",
        fix="Write the rule, or remove the line.",
        example="- [SEC-001] (critical) #security\n",
    ),
    # 4xx: constitution
    "TS401": Kind(
        "constitution-overflow",
        WARNING,
        "A constitution rule does not fit into the maximum of lines or tokens.",
        why="It is not always loaded any more; it is retrieved like any other rule.",
        fix="Shorten the constitution, lower the rule's rank knowingly, or raise max_constitution_lines.",
        example="## Security\n"
        + "".join(f"- [P-{port}] Never open port {port} to everybody\n" for port in range(9000, 9070)),
    ),
    "TS402": Kind(
        "local-weakens",
        ERROR,
        "A local file would weaken or replace a constitution rule.",
        why="A local file may add and tighten; the constitution applies to everybody.",
        fix="Remove the local rule, or change the root file in review.",
        example={
            "CLAUDE.md": "## Security\n- [SEC-001] Never disable TLS\n",
            "CLAUDE.local.md": "- [SEC-001] You can disable TLS locally\n",
        },
    ),
    "TS403": Kind(
        "constitution-tokens",
        WARNING,
        "The constitution costs more tokens per turn than it should.",
        why="It costs tokens on every turn and dilutes the model's attention.",
        fix="Move what does not apply to every task out of the always-loaded sections.",
        example="## Security\n"
        + "".join(
            f"- [SEC-{n:03}] Never send customer record number {n} to any third party without a signed agreement\n"
            for n in range(50)
        ),
    ),
    "TS404": Kind(
        "host-cut-off",
        WARNING,
        "The file is longer than its host reads.",
        why="The host cuts it off; the rules below the cut never reach the model.",
        fix="Split the file, or move the least important rules into scoped files.",
        example={"AGENTS.md": "".join(f"- Always keep the table of service number {n} sorted\n" for n in range(900))},
    ),
    "TS405": Kind(
        "constitution-missed",
        INFO,
        "Rules that belong to the constitution find no room in it.",
        why="They are retrieved for the tasks that they are about, and not always loaded.",
        fix="Say them or the one that counts least in fewer words, or give that one up.",
        example="".join(
            f"- You MUST NOT change table {n} of the ledger without asking the people who keep the books of year {n}\n"
            for n in range(40)
        ),
    ),
    # 5xx: rules among themselves
    "TS501": Kind(
        "duplicate",
        WARNING,
        "Two rules are duplicates.",
        why="Both cost tokens, and one gets changed while the other is forgotten.",
        fix="Keep one of them.",
        example="- Always sign release tags\n- Never squash commits\n- Always sign release tags\n",
    ),
    "TS502": Kind(
        "near-duplicate",
        INFO,
        "Two rules say nearly the same.",
        why="They drift apart, and a model has to guess which one counts.",
        fix="Merge them.",
        example="- Always sign release tags with the team key\n- Sign the release tags with the team key\n",
    ),
    "TS503": Kind(
        "contradiction",
        ERROR,
        "Two rules contradict each other.",
        why="Whatever the model does, it breaks one of them.",
        fix="Remove one, scope them apart, or say in one rule when each applies.",
        example="- Commits must be squashed before merging\n- Commits must not be squashed before merging\n",
    ),
    "TS504": Kind(
        "overridden",
        INFO,
        "A nested or a local file replaces a rule of another one.",
        why="The nearest file wins in its folder, elsewhere the outer rule applies; a local file wins on its machine.",
        fix="Nothing, if that is intended.",
        example={
            "AGENTS.md": "- [STY-001] Prefer tabs\n",
            "web/AGENTS.md": "- [STY-001] Prefer two spaces\n",
        },
    ),
    "TS505": Kind(
        "comparison-cut-short",
        INFO,
        "So many rules are alike that not every pair was compared.",
        why="Some duplicates or contradictions may not be reported.",
        fix="Remove the duplicates that are reported and compile again.",
        example="<tens of thousands of rules in the same words>",
    ),
    "TS506": Kind(
        "possible-conflict",
        INFO,
        "Two rules may exclude each other.",
        why="A model that is given both has to guess when each applies; it is given both, with a note.",
        fix="Say in each rule when it applies.",
        example="- Avoid default exports\n- Use default exports for pages\n",
    ),
    # 6xx: scopes
    "TS601": Kind(
        "scope-dead",
        WARNING,
        "A scope matches no file of the repository.",
        why="The rule is never loaded for a file.",
        fix="Correct the glob, or delete the rule together with the files that it was about.",
        example="- Always paginate scope:services/billing/**\n",
    ),
    "TS602": Kind(
        "scope-invalid",
        ERROR,
        "A scope is not a usable glob.",
        why="It can match nothing.",
        fix="Balance brackets and braces, and write it relative to the repository.",
        example="- Always paginate scope:src/{api,web/**\n",
    ),
    # 7xx: quality
    "TS701": Kind(
        "vague",
        INFO,
        "The rule gives nothing to check.",
        why="Rules that cannot be checked are not followed; they cost tokens and attention.",
        fix="Say what, where and how much.",
        example="- Write clean code\n",
    ),
    "TS702": Kind(
        "rule-long",
        INFO,
        "The rule is very long.",
        why="Long rules are followed in part, and are found less well.",
        fix="One rule, one sentence; give reasons in a second one.",
        example="- Always " + "check every part of the form and " * 30 + "submit\n",
    ),
}


def find(
    code: str,
    line: int,
    source: str,
    message: str = "",
    *,
    fix: str = "",
    rule_id: str | None = None,
    span: tuple[int, int] = (0, 0),
    severity: Severity | None = None,
) -> Diagnostic:
    """Return a diagnostic of a registered kind; `message` and `fix` default to the kind's own.

    Raises
    ------
    KeyError
        If `code` is not registered.
    """
    kind = KINDS[code]
    return Diagnostic(
        code=code,
        message=message or kind.summary,
        line=line,
        source=source,
        fix=fix or kind.fix,
        severity=severity or kind.severity,
        rule_id=rule_id,
        span=span,
    )
