"""Markup that is both HTML and XML: what is not markup is escaped, characters that no page may hold are replaced."""

from __future__ import annotations

import re
from html import escape

_FORBIDDEN = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(value: object) -> str:
    """A value as text of a page."""
    return escape(_FORBIDDEN.sub("\ufffd", str(value)))


def tag(name: str, /, *content: str, **attributes: object) -> str:
    """An element. content: markup. attributes: values as text, None for one that is absent; `_` in a name is `-`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(content)
    return f"<{name}{given}>{inner}</{name}>" if inner or name not in _EMPTY else f"<{name}{given}/>"


_EMPTY = frozenset({"meta", "line", "rect", "circle", "path", "polygon", "br", "input"})
