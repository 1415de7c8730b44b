"""Strategies that write rule files as people do, and as nobody should."""

from __future__ import annotations

from hypothesis import strategies as st

_WORDS = st.sampled_from(
    "must never always should avoid only push main `must` tests é 提交 keys **bold** a:b (critical) #security "
    "@testing scope:src/** verify:x priority:9 SEC-001 ~~old~~ <b> </b> <!--x--> don't do not it's e.g. etc. "
    "[link](a/b.md) `a` `` ` `` & &amp; _it_ * : ; . ! ? -> — 9.1 @docs/x.md".split(" ")
)
_SENTENCES = st.lists(_WORDS, min_size=1, max_size=7).map(" ".join)
_ENDS = st.sampled_from([".", ":", "", "!", " #docs"])
_MARKERS = st.sampled_from(
    [
        "- ",
        "* ",
        "+ ",
        "1. ",
        "2) ",
        "- [ ] ",
        "- [R12] ",
        "> ",
        "> - ",
        "# ",
        "## ",
        "### ",
        "#",
        "",
        "",
        "    ",
        "  - ",
        "    - ",
        "   1. ",
        "| a | ",
        "<div>",
        "<!-- ",
        "-->",
        "</div>",
        "<details>",
        "[^1]: ",
        "~~",
        "\t",
        "\t- ",
        "**",
        "<pre>",
        "</pre>",
        "<?x ",
    ]
)
_WHOLE_LINES = st.sampled_from(
    [
        "",
        "",
        "",
        "```",
        "~~~",
        "````",
        "---",
        "===",
        "***",
        "| must | b |",
        "|---|---|",
        "| x | never y |",
        "## Don't",
        "## Security",
        "#Security",
        "Never use:",
        "- Never use:",
        "  - You must:",
        "- **Label**",
        "- [SEC-7] Steps:",
        "R13: Always x",
        "> [!IMPORTANT]",
        "...",
        "paths: a",
        "-",
        "1.",
        ">",
        "## [SEC-9]",
        "### R4: Never x",
        "> # Never",
    ]
)
_LINES = st.one_of(st.tuples(_MARKERS, _SENTENCES, _ENDS).map("".join), _WHOLE_LINES)

documents = st.builds(
    lambda head, lines, end: head + end.join(lines),
    st.sampled_from(["", "", "", "\ufeff", "---\n", "---\nglobs: **/*.ts\n---\n"]),
    st.lists(_LINES, max_size=14),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
)
"""Documents of a few lines in which every construct of Markdown meets every other."""

well_formed = st.builds(
    "\n".join,
    st.lists(
        st.one_of(
            st.tuples(
                st.sampled_from(
                    [
                        "- ",
                        "* ",
                        "1. ",
                        "  - ",
                        "     - ",
                        "\n",
                        "\n",
                        "## ",
                        "- **Label**:\n  - ",
                        "\nYou must never:\n\n- ",
                    ]
                ),
                st.lists(
                    st.sampled_from(
                        "must never always should avoid push main `must` tests é 提交 keys **bold** it (critical)".split()
                    ),
                    min_size=1,
                    max_size=7,
                ).map(" ".join),
                st.sampled_from([".", "", "!", ":"]),
            ).map("".join),
            st.sampled_from(["", "```\n- never run\n```", "\n| a | must |\n|---|---|\n| x | never y |\n"]),
        ),
        max_size=12,
    ),
)
"""Documents without tags and malformed headings, in which two readers of Markdown have no reason to differ."""
