"""Markup that is both HTML and XML: what is not markup is escaped, characters that no page may hold are replaced."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape

_FORBIDDEN = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_markup(value: object) -> str:
    """A value as text of a page."""
    return escape(_FORBIDDEN.sub("\ufffd", str(value)))


def content_security_policy(style: str, script: str) -> str:
    """What a page may do, for its head: this style and this script, known by their hashes, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    """The name by which a policy lets one style or script through, and nothing else."""
    return f"sha256-{b64encode(sha256(content.encode('utf-8')).digest()).decode('ascii')}"


def tag(name: str, /, *content: str, **attributes: object) -> str:
    """An element. content: markup. attributes: values as text, None for one that is absent; `_` in a name is `-`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_markup(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(content)
    return f"<{name}{given}>{inner}</{name}>" if inner or name not in _EMPTY else f"<{name}{given}/>"


_EMPTY = frozenset({"meta", "line", "rect", "circle", "path", "polygon", "br", "input"})
