"""An extension of Griffe: `name: text.` in a docstring, where `name` is a field or a parameter, becomes a list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from griffe import Class, Extension, Function


class FieldLists(Extension):
    """ptxkit's docstrings state what a field or a parameter is in running text: `code: stable. span: the place.`"""

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Make lists of the fields, with their types."""
        types = {
            name: "" if member.annotation is None else str(member.annotation)
            for name, member in cls.members.items()
            if member.is_attribute
        }
        if "__init__" in cls.members:
            types |= _parameters(cls.members["__init__"])
        _rewrite(cls, types)

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Make lists of the parameters, whose types the signature has."""
        _rewrite(func, dict.fromkeys(_parameters(func), ""))


def _parameters(function: Any) -> dict[str, str]:
    if not isinstance(function, Function):
        return {}
    return {each.name: str(each.annotation or "") for each in function.parameters if each.name != "self"}


def _rewrite(owner: Class | Function, types: Mapping[str, str]) -> None:
    if owner.docstring is not None and types:
        owner.docstring.value = with_field_list(owner.docstring.value, types)


def with_field_list(text: str, types: Mapping[str, str]) -> str:
    """A docstring whose descriptions of names are a list, in each paragraph; types: by name, empty where not shown."""
    name = "|".join(sorted(map(re.escape, types), key=len, reverse=True))
    start = re.compile(rf"(?:^|(?<=\.\s)|(?<=;\s))((?:{name})(?:(?:, | and )(?:{name}))*):\s")
    return "\n\n".join(_with_list(part, start, types) for part in re.split(r"\n[ \t]*\n", text))


def _with_list(paragraph: str, start: re.Pattern[str], types: Mapping[str, str]) -> str:
    if paragraph.startswith((" ", "-", "*")):
        return paragraph
    parts = start.split(paragraph)
    if len(parts) == 1:
        return paragraph
    before, *pairs = parts
    items = [_item(names, " ".join(text.split()), types) for names, text in zip(pairs[::2], pairs[1::2], strict=True)]
    return dedent(before).rstrip() + ("\n\n" if before.strip() else "") + "\n".join(items)


def _item(names: str, text: str, types: Mapping[str, str]) -> str:
    listed = re.split(", | and ", names)
    shown = ", ".join(f"`{each}`" for each in listed)
    kinds = list(dict.fromkeys(types[each] for each in listed))
    return f"- {shown}{f' (`{kinds[0]}`)' if kinds[0] and len(kinds) == 1 else ''}: {text}"
