"""What a source file declares: the signatures of its types and functions, without their bodies, by tree-sitter.

The grammars are in the optional extra ``review``. What a signature is, is data: for each language the kinds of nodes
that are shown, and those whose bodies are looked into.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any, Final

from tipstaff.errors import MissingExtraError
from tipstaff.model import Record

MAX_SOURCE_BYTES: Final = 1_000_000
MAX_SIGNATURE_CHARS: Final = 200
MAX_SIGNATURES: Final = 200
_MAX_DEPTH: Final = 6


class _Language(Record, frozen=True):
    module: str
    function: str
    shown: frozenset[str]
    entered: frozenset[str]


_PY: Final = _Language(
    "tree_sitter_python",
    "language",
    frozenset({"function_definition", "class_definition"}),
    frozenset(
        "class_definition decorated_definition if_statement elif_clause else_clause try_statement except_clause "
        "finally_clause with_statement block".split()
    ),
)
_JS_SHOWN: Final = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration "
    "method_definition interface_declaration type_alias_declaration enum_declaration function_signature "
    "abstract_method_signature method_signature property_signature internal_module module".split()
)
_JS_ENTERED: Final = frozenset(
    "class_declaration abstract_class_declaration class_body export_statement interface_declaration interface_body "
    "object_type ambient_declaration lexical_declaration internal_module module statement_block "
    "expression_statement".split()
)
_LANGUAGES: Final = {
    "python": _PY,
    "javascript": _Language("tree_sitter_javascript", "language", _JS_SHOWN, _JS_ENTERED),
    "typescript": _Language("tree_sitter_typescript", "language_typescript", _JS_SHOWN, _JS_ENTERED),
    "tsx": _Language("tree_sitter_typescript", "language_tsx", _JS_SHOWN, _JS_ENTERED),
    "go": _Language(
        "tree_sitter_go",
        "language",
        frozenset({"function_declaration", "method_declaration", "type_spec", "type_alias", "method_elem"}),
        frozenset({"type_declaration", "type_spec", "interface_type"}),
    ),
    "rust": _Language(
        "tree_sitter_rust",
        "language",
        frozenset(
            "function_item function_signature_item struct_item enum_item trait_item impl_item mod_item type_item "
            "union_item macro_definition".split()
        ),
        frozenset({"trait_item", "impl_item", "mod_item", "declaration_list"}),
    ),
    "java": _Language(
        "tree_sitter_java",
        "language",
        frozenset(
            "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration "
            "method_declaration constructor_declaration".split()
        ),
        frozenset(
            "class_declaration interface_declaration enum_declaration record_declaration class_body interface_body "
            "enum_body enum_body_declarations".split()
        ),
    ),
}
_FUNCTIONS: Final = frozenset("arrow_function function_expression function generator_function class".split())
_ENDINGS: Final = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
    "tsx": "tsx",
    "go": "go",
    "rs": "rust",
    "java": "java",
}


def language_of(path: str) -> str:
    """Return the language of a source file by its name, empty for an unknown one."""
    return _ENDINGS.get(path.rpartition(".")[2].lower(), "")


def signatures(source: bytes, language: str) -> list[str]:
    """Return the signatures in a source, members indented by two spaces below what they belong to.

    Parameters
    ----------
    source
        Its bytes; not more than `MAX_SOURCE_BYTES` are read.
    language
        From `language_of`.

    Raises
    ------
    MissingExtraError
        If the grammar is not installed.
    """
    table = _LANGUAGES[language]
    tree = _parser(language).parse(source[:MAX_SOURCE_BYTES])
    found: list[str] = []
    # (node, depth) in the order of the source.
    waiting: list[tuple[Any, int]] = [(child, 0) for child in reversed(tree.root_node.children)]
    while waiting and len(found) < MAX_SIGNATURES:
        node, depth = waiting.pop()
        kind = node.type
        shown = kind in table.shown or _is_named_function(node)
        if kind == "decorated_definition":
            found += ["  " * depth + _text(source, one) for one in node.children if one.type == "decorator"]
        if shown:
            found.append("  " * depth + _signature(source, node))
        inner = node.child_by_field_name("type" if kind == "type_spec" else "body") if kind in table.shown else node
        if depth < _MAX_DEPTH and inner is not None and (kind in table.entered or kind == "lexical_declaration"):
            step = depth + 1 if shown else depth
            waiting.extend((child, step) for child in reversed(inner.children))
    return found


def _is_named_function(node: Any) -> bool:
    """Return whether a node is a function by what is assigned or exported."""
    if node.type in {"variable_declarator", "public_field_definition", "field_definition"}:
        value = node.child_by_field_name("value")
        return value is not None and value.type in _FUNCTIONS
    return node.type in _FUNCTIONS and node.parent.type == "export_statement"


def _signature(source: bytes, node: Any) -> str:
    """Return a declaration up to its body, with what exports it, without comments."""
    value = node.child_by_field_name("value")
    body = (node if value is None or value.type not in _FUNCTIONS else value).child_by_field_name("body")
    start, end = node.start_byte, node.end_byte if body is None else body.start_byte
    if node.type in {"class_definition", "function_definition"}:
        # What is between the colon and the first statement is a comment.
        end = next((one.start_byte for one in reversed(node.children) if one.type == ":"), end)
    holder = node.parent if node.type != "variable_declarator" else node.parent.parent
    if holder is not None and holder.type == "export_statement":
        start = holder.start_byte
    if body is None and node.type in {"type_spec", "type_alias"}:
        kind = node.child_by_field_name("type")
        brace = source.find(b"{", node.start_byte, node.end_byte)
        if kind is not None and kind.type in {"struct_type", "interface_type"} and brace >= 0:
            end = brace
    text = _text(source, node, start, end)
    if node.type in {"type_spec", "type_alias"}:
        text = f"type {text}"
    text = text.removesuffix("=>").removesuffix("{").rstrip().removesuffix(":").rstrip()
    return text if len(text) <= MAX_SIGNATURE_CHARS else text[: MAX_SIGNATURE_CHARS - 1] + "…"


def _text(source: bytes, node: Any, start: int | None = None, end: int | None = None) -> str:
    """Return the source of a node or a part of it in one line, comments left out."""
    first = node.start_byte if start is None else start
    last = node.end_byte if end is None else end
    pieces: list[bytes] = []
    waiting = [node]
    comments: list[tuple[int, int]] = []
    while waiting:
        one = waiting.pop()
        if "comment" in one.type:
            comments.append((one.start_byte, one.end_byte))
        elif one.start_byte < last:
            waiting.extend(one.children)
    for begin, until in sorted(comments):
        if first <= begin < last:
            pieces.append(source[first:begin])
            first = until
    pieces.append(source[first:last])
    return " ".join(b" ".join(pieces).decode("utf-8", "replace").split())


@lru_cache(maxsize=16)
def _parser(language: str) -> Any:
    table = _LANGUAGES[language]
    try:
        core = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(table.module)
    except ImportError as error:
        raise MissingExtraError(f"signatures of {language} need {error.name}; install tipstaff[review]") from error
    return core.Parser(core.Language(getattr(grammar, table.function)()))
