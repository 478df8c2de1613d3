"""Links from the codes of findings to their pages in the documentation, if the user configures its address."""

from __future__ import annotations

from functools import cache
from urllib.parse import urlsplit

from lsprotocol import types

OPTION = "documentation"
"""The initialization option with the address of the built documentation, such as `https://example.org/ptxkit`."""


def pages_address(options: object) -> str:
    """Returns the address of the documentation without a slash at its end, or "" if the options have no usable one.

    Only `http` and `https` are accepted, because editors open a link in a browser.
    """
    given = options.get(OPTION) if isinstance(options, dict) else None
    if not isinstance(given, str) or not given.isprintable():
        return ""
    try:
        parts = urlsplit(given)
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and parts.netloc and not parts.query and not parts.fragment
    return given.rstrip("/") if usable else ""


def page_link(code: str, address: str) -> types.CodeDescription | None:
    """Returns the link to the page of a code, or None if there is no such page or the address is unknown."""
    if not address or code not in _codes():
        return None
    return types.CodeDescription(f"{address}/reference/codes/{code}.html")


@cache
def _codes() -> frozenset[str]:
    from ptxkit.rules.docs_index import all_pages  # imports all rules, and most clients have no address

    return frozenset(str(page.code) for page in all_pages())
