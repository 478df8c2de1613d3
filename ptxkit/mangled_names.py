"""Demangles names of C++ and Rust compilers.

Source: Itanium C++ ABI, "5.1 External Names (a.k.a. Mangling)".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MANGLED = re.compile(r"\b_Z\w+")
_LOCAL = re.compile(r"_ZZ.*E(\d+)(\w+?)(?:_\d+)?")
"""A variable inside a function: `_ZZ4loadE4tile` for `tile` in `load`."""
_PARAMETER = re.compile(r"(_Z\w+)_(param_\d+)")
"""A parameter of a kernel, whose name nvcc derives from that of the kernel."""
_RUST_HASH = re.compile(r"h[0-9a-f]{16}")
_QUALIFIERS = re.compile(r"[rVK]*[RO]?")
"""The qualifiers of a member function: restrict, volatile, const; `&` or `&&`."""
_FUNCTION = re.compile(r"_Z(\d+)")
"""A function outside of namespaces: `_Z4loadPKf`."""
_CODE = re.compile(r"`[^`]*`")


def short_name(name: str) -> str:
    """Returns the name without its namespaces, its function and its types, or the unchanged name if it is not
    understood.
    """
    match = _LOCAL.fullmatch(name)
    if match:
        tail = name.rpartition("E" + match[1])[2]
        return tail[: int(match[1])] if len(tail) >= int(match[1]) else name
    match = _PARAMETER.fullmatch(name)
    if match:
        return match[2]
    match = _FUNCTION.match(name)
    if match:
        found = name[match.end() : match.end() + int(match[1])]
        return found if len(found) == int(match[1]) else name
    return _last_part(name[3:]) or name if name.startswith("_ZN") else name


def distinct_short_names(names: Iterable[str]) -> list[str]:
    """Returns the short forms of some names, by which `names_meant` finds them; a name whose short form is also that of
    another one is left as it is.
    """
    known = list(names)
    forms = [short_name(each) for each in known]
    return [form if forms.count(form) == 1 else name for name, form in zip(known, forms, strict=True)]


def names_meant(name: str, names: Iterable[str]) -> list[str]:
    """Returns those of some names that a user means by a name: the same one, else all whose short form it is."""
    known = list(names)
    return [name] if name in known else [each for each in known if short_name(each) == name]


def short_names(texts: Iterable[str]) -> dict[str, str]:
    """Returns the short forms of all mangled names in some texts. Two names with the same short form keep their mangled
    form.
    """
    names = dict.fromkeys(found for text in texts for found in _MANGLED.findall(text))
    short = {name: short_name(name) for name in names}
    made = list(short.values())
    return {name: form for name, form in short.items() if form != name and made.count(form) == 1}


def with_short_names(text: str, names: dict[str, str]) -> str:
    """Returns the text with short names, except in code between backticks that is not a single name."""

    def replace(match: re.Match[str]) -> str:
        return names.get(match[0], match[0])

    def in_code(match: re.Match[str]) -> str:
        return f"`{names.get(match[0][1:-1], match[0][1:-1])}`"

    pieces, end = [], 0
    for code in _CODE.finditer(text):
        pieces += [_MANGLED.sub(replace, text[end : code.start()]), in_code(code)]
        end = code.end()
    return "".join(pieces) + _MANGLED.sub(replace, text[end:])


def _last_part(parts: str) -> str | None:
    """Returns the last of the names in `3lib6bufferE`, or None if it contains anything else, such as template
    arguments.
    """
    parts = _QUALIFIERS.sub("", parts, count=1)
    last: str | None = None
    while parts and (digits := re.match(r"\d+", parts)):
        end = digits.end() + int(digits[0])
        found, parts = parts[digits.end() : end], parts[end:]
        if len(found) < int(digits[0]):
            return None
        last = last if last and _RUST_HASH.fullmatch(found) else found
    return last if parts.startswith("E") else None
