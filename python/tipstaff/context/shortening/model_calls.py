"""One question to a model over HTTP: no client library, one time limit, and errors that say what is wrong."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

from tipstaff.errors import ConfigError, TipstaffError

_MAX_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_CHARS: Final = 300


class SummarizerError(TipstaffError, RuntimeError):
    """A summarizer gave no summary: not reached, refused, too late, or an empty answer."""


def api_key(given: str | None, variable: str) -> str:
    """Return the key.

    Raises
    ------
    SummarizerError
        If none was given and the environment has none.
    """
    key = os.environ.get(variable, "") if given is None else given
    if given is None and not key:
        msg = f"no key: set {variable}, or give one"
        raise SummarizerError(msg)
    if any(char < " " or char > "~" for char in key):
        msg = f"the key of {variable} has characters that no key has (a line break at its end?)"
        raise SummarizerError(msg)
    return key


def checked_base_url(url: str) -> str:
    """Return an address without the slash at its end.

    Raises
    ------
    ConfigError
        If it is no http or https address.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        msg = f"base_url: expected an http or https address, got {url!r}"
        raise ConfigError(msg)
    return url.rstrip("/")


def post_json(url: str, headers: Mapping[str, str], body: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
    """Post a JSON object and return the object that comes back.

    Parameters
    ----------
    url
        Where to; a redirect is an error, for the key must not follow it.
    headers
        Beside those of JSON.
    body
        What is asked.
    timeout_s
        Seconds for all of it, however slowly the answer drips.

    Raises
    ------
    SummarizerError
        If the server was not reached, did not answer in time, answered with an error, or with no JSON object.
    """
    deadline = time.monotonic() + timeout_s
    try:
        status, data = _exchange(url, headers, body, deadline)
    except TimeoutError:
        msg = f"{url}: no answer within {timeout_s:g} s"
        raise SummarizerError(msg) from None
    except (OSError, http.client.HTTPException) as error:
        msg = f"{url}: not reached: {str(error) or type(error).__name__}"
        raise SummarizerError(msg) from error
    text = data.decode("utf-8", "replace")
    if status != http.client.OK:
        msg = f"{url}: answered {status}: {_message_of(text)}"
        raise SummarizerError(msg)
    try:
        value: object = json.loads(text)
    except ValueError:
        msg = f"{url}: expected JSON, got {text[:_MAX_ERROR_CHARS]!r}"
        raise SummarizerError(msg) from None
    if not isinstance(value, dict):
        msg = f"{url}: expected a JSON object, got {text[:_MAX_ERROR_CHARS]!r}"
        raise SummarizerError(msg)
    return cast("Mapping[str, Any]", value)


def _exchange(url: str, headers: Mapping[str, str], body: Mapping[str, Any], deadline: float) -> tuple[int, bytes]:
    request = urllib.request.Request(  # noqa: S310 - http or https: see checked_base_url
        url,
        json.dumps(body).encode("utf-8"),
        {"content-type": "application/json", "accept": "application/json", **headers},
        method="POST",
    )
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        response: Any = opener.open(request, timeout=_left(deadline))
    except urllib.error.HTTPError as error:
        response = error
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise TimeoutError from None
        raise
    with response:
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read1(65_536):
            _left(deadline)
            size += len(chunk)
            if size > _MAX_BYTES:
                msg = f"the answer is longer than {_MAX_BYTES:,} bytes"
                raise http.client.HTTPException(msg)
            chunks.append(chunk)
        expected: str | None = response.headers.get("content-length")
        if expected is not None and expected.isdigit() and int(expected) > size:
            msg = f"the answer ended after {size:,} of {int(expected):,} bytes"
            raise http.client.HTTPException(msg)
        return int(response.status), b"".join(chunks)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Returns a redirect as the answer."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
        return None


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _message_of(text: str) -> str:
    """Return the message of an error."""
    try:
        value: object = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        error: object = cast("dict[str, Any]", value).get("error")
        if isinstance(error, dict):
            return str(cast("dict[str, Any]", error).get("message"))[:_MAX_ERROR_CHARS]
        if isinstance(error, str):
            return error[:_MAX_ERROR_CHARS]
    return " ".join(text.split())[:_MAX_ERROR_CHARS] or "nothing more"
