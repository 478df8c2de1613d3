"""Markup that is valid HTML and XML: text is escaped, and characters that pages must not contain are replaced."""

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
    """The content security policy of a page: it allows this style and this script, identified by their hashes, and
    nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    """The hash with which a policy allows one style or script."""
    return f"sha256-{b64encode(sha256(content.encode('utf-8')).digest()).decode('ascii')}"


def tag(name: str, /, *content: str, **attributes: object) -> str:
    """An element. content: markup. attributes: values as text, None for an absent one; `_` in a name becomes `-`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_markup(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(content)
    return f"<{name}{given}>{inner}</{name}>" if inner or name not in _EMPTY else f"<{name}{given}/>"


_EMPTY = frozenset({"meta", "line", "rect", "circle", "path", "polygon", "br", "input"})
