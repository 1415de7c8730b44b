"""Any text compiles, into something that can be written as JSON, and nothing of it is lost."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.guidance.coverage_oracle import spans_of_bundle, uncovered
from tests.guidance.markdown_strategies import documents
from tipstaff import compile_guidance


@given(documents, documents)
def test_any_two_documents_compile(root: str, local: str) -> None:
    json.dumps(compile_guidance(root, local).to_dict())


@given(st.text(max_size=200), st.text(max_size=50))
def test_any_text_compiles_after_any_other(first: str, second: str) -> None:
    previous = compile_guidance(first, second)
    again = compile_guidance(f"- {second}", previous=previous)
    assert again.manifest.total_rules == len(again.rules())


@given(documents)
def test_nothing_of_a_document_is_lost(text: str) -> None:
    assert uncovered(text, spans_of_bundle(compile_guidance(text))) == []
