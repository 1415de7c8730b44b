"""An API by its name."""

from __future__ import annotations

from tipstaff.context.session.apis.chat_api import ChatApi
from tipstaff.context.session.apis.messages_api import MessagesApi
from tipstaff.context.session.apis.responses_api import ResponsesApi
from tipstaff.context.session.apis.wire import Wire
from tipstaff.errors import ConfigError


def wire_of(api: str) -> Wire:
    """Return the translation to and from an API.

    Raises
    ------
    ConfigError
        If it is not one of the three.
    """
    found: dict[str, type[MessagesApi | ChatApi | ResponsesApi]] = {
        "anthropic": MessagesApi,
        "openai-chat": ChatApi,
        "openai-responses": ResponsesApi,
    }
    if api not in found:
        msg = f"api: expected one of {', '.join(found)}, got {api!r}"
        raise ConfigError(msg)
    return found[api]()
