"""LiteLLM: a guardrail for its proxy and for ``litellm.callbacks``: it judges the calls that a model answers with."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

from tipstaff.adapters.guard import WITHHELD, Guard, arguments_of, sdk
from tipstaff.plane import GuidanceControlPlane

_Guardrail: Any = sdk("litellm.integrations.custom_guardrail", "litellm").CustomGuardrail
_errors = sdk("litellm.exceptions", "litellm")
_NAME: Final = "tipstaff"


class TipstaffGuardrail(_Guardrail):
    """Masks what is sent and answered, and refuses an answer with a call that may not run.

    Parameters
    ----------
    root
        The repository, or a plane.
    wait
        As of `tipstaff.adapters.guard.Guard`.
    options
        Of ``CustomGuardrail``.
    """

    def __init__(
        self, root: str | Path | GuidanceControlPlane = ".", *, wait: float = 0.0, guardrail_name: str = _NAME,
        default_on: bool = True, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(guardrail_name=guardrail_name, default_on=default_on, **options)
        self._guard = Guard(root, asker="litellm", wait=wait)

    async def apply_guardrail(
        self, inputs: Any, request_data: dict[str, Any], input_type: str, logging_obj: Any = None
    ) -> Any:  # fmt: skip
        """Mask texts, and judge an answer's calls; raises ``GuardrailRaisedException`` for one that may not run."""
        del request_data, logging_obj
        found = dict(inputs)
        if "texts" in found:
            found["texts"] = self._masked(list(found["texts"]))
        if input_type == "response":
            await self._check(found.get("tool_calls") or ())
        return found

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any]:
        """Give the model the rules, and mask what it is sent."""
        del call_type
        messages = self._masked(list(kwargs.get("messages") or ()))
        rules = await asyncio.to_thread(self._guard.rules, _task(messages))
        system = [{"role": "system", "content": rules}] if rules else []
        return {**kwargs, "messages": [*system, *messages]} if messages else kwargs

    async def async_post_call_success_deployment_hook(self, request_data: Any, response: Any, call_type: Any) -> Any:
        """Judge the calls of an answer."""
        del request_data, call_type
        for choice in getattr(response, "choices", ()):
            await self._check(getattr(getattr(choice, "message", None), "tool_calls", None) or ())
        return self._masked(response)

    def _masked(self, value: Any) -> Any:
        masked = self._guard.masked(value)
        if masked is WITHHELD:
            raise self._refusal(WITHHELD)
        return masked

    def _refusal(self, message: str) -> Exception:
        error: Exception = _errors.GuardrailRaisedException(
            guardrail_name=self.guardrail_name, message=message, should_wrap_with_default_message=False,
            blocked_content=True,
        )  # fmt: skip
        return error

    async def _check(self, calls: Any) -> None:
        for call in calls:
            function = _field(call, "function")
            name, arguments = _field(function, "name"), arguments_of(_field(function, "arguments"))
            if refused := await self._guard.permit(str(name), arguments, call=str(_field(call, "id") or "")):
                raise self._refusal(refused)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _task(messages: Any) -> str:
    """Return what the user said last."""
    for one in reversed(messages):
        content = _field(one, "content")
        if _field(one, "role") == "user":
            return (
                content if isinstance(content, str) else " ".join(str(_field(part, "text") or "") for part in content)
            )
    return ""
