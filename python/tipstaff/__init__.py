"""tipstaff: native guidance control plane for coding agents.

Importing the package is cheap on purpose: every public name is loaded when it is first asked for, so that a command
line that prints a version pays for nothing else.
"""

from __future__ import annotations

import sys

# `python -m tipstaff.cli` puts the present folder before the library: a repository's json.py would be imported for it.
if (
    sys.argv[:1] == ["-m"]
    and not sys.flags.safe_path
    and any(word.removeprefix("-m").startswith("tipstaff") for word in sys.orig_argv[1:])
):
    del sys.path[0]

from tipstaff.lazy import loader

# The typing module alone costs more than the rest of this package's import; type checkers know the name all the same.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.gates.config import GateConfig
    from tipstaff.gates.judging.engine import EnforcementGates
    from tipstaff.gates.results import GateResult, aggregate_decision
    from tipstaff.gates.secrets.scanner import SecretFinding, redact, scan_secrets
    from tipstaff.guidance.compiling.compiler import compile_guidance
    from tipstaff.guidance.compiling.compiler_config import CompilerConfig
    from tipstaff.guidance.compiling.tenants import join_bundles
    from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
    from tipstaff.guidance.embeddings.onnx_embedding import OnnxEmbedding
    from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
    from tipstaff.guidance.guidance_compiler import GuidanceCompiler
    from tipstaff.guidance.intents.classify import classify_intent
    from tipstaff.guidance.lint import lint_repository
    from tipstaff.guidance.project import compile_repository, open_project
    from tipstaff.guidance.retrieval.retriever import ShardRetriever
    from tipstaff.model import (
        Constitution,
        Diagnostic,
        GuidanceRule,
        IntentMatch,
        PolicyBundle,
        RetrievalResult,
        RetrievedShard,
        RuleManifest,
        RuleShard,
    )
    from tipstaff.plane import GuidanceControlPlane, PlaneConfig

__version__ = "0.1.0"

_HOMES = {
    "GateConfig": "tipstaff.gates.config",
    "EnforcementGates": "tipstaff.gates.judging.engine",
    "GateResult": "tipstaff.gates.results",
    "aggregate_decision": "tipstaff.gates.results",
    "SecretFinding": "tipstaff.gates.secrets.scanner",
    "redact": "tipstaff.gates.secrets.scanner",
    "scan_secrets": "tipstaff.gates.secrets.scanner",
    "CompilerConfig": "tipstaff.guidance.compiling.compiler_config",
    "compile_guidance": "tipstaff.guidance.compiling.compiler",
    "HashEmbedding": "tipstaff.guidance.embeddings.hash_embedding",
    "GuidanceCompiler": "tipstaff.guidance.guidance_compiler",
    "classify_intent": "tipstaff.guidance.intents.classify",
    "lint_repository": "tipstaff.guidance.lint",
    "compile_repository": "tipstaff.guidance.project",
    "open_project": "tipstaff.guidance.project",
    "OnnxEmbedding": "tipstaff.guidance.embeddings.onnx_embedding",
    "ShardRetriever": "tipstaff.guidance.retrieval.retriever",
    "StaticEmbedding": "tipstaff.guidance.embeddings.static_embedding",
    "join_bundles": "tipstaff.guidance.compiling.tenants",
    "Constitution": "tipstaff.model",
    "Diagnostic": "tipstaff.model",
    "GuidanceRule": "tipstaff.model",
    "IntentMatch": "tipstaff.model",
    "PolicyBundle": "tipstaff.model",
    "RetrievalResult": "tipstaff.model",
    "RetrievedShard": "tipstaff.model",
    "RuleManifest": "tipstaff.model",
    "RuleShard": "tipstaff.model",
    "GuidanceControlPlane": "tipstaff.plane",
    "PlaneConfig": "tipstaff.plane",
}

__all__ = [
    "CompilerConfig",
    "Constitution",
    "Diagnostic",
    "EnforcementGates",
    "GateConfig",
    "GateResult",
    "GuidanceCompiler",
    "GuidanceControlPlane",
    "GuidanceRule",
    "HashEmbedding",
    "IntentMatch",
    "OnnxEmbedding",
    "PlaneConfig",
    "PolicyBundle",
    "RetrievalResult",
    "RetrievedShard",
    "RuleManifest",
    "RuleShard",
    "SecretFinding",
    "ShardRetriever",
    "StaticEmbedding",
    "__version__",
    "aggregate_decision",
    "classify_intent",
    "compile_guidance",
    "compile_repository",
    "join_bundles",
    "lint_repository",
    "open_project",
    "redact",
    "scan_secrets",
]


__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
