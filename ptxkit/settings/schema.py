"""The keys of a settings file, their values, and the level that a table of them defines.

An unknown key, or an invalid value, is a `KeyValueError` with the path of the key inside the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ptxkit.diagnostics.catalogue import ptx5xx, ptx7xx
from ptxkit.refusal import RefusedError
from ptxkit.settings import parsers
from ptxkit.settings.errors import nearest_hint
from ptxkit.settings.model import POLICIES, ConfigLayer, Policy

_Value = TypeVar("_Value")


class KeyValueError(RefusedError):
    """The value of a key is invalid, or there is no such key. path: the keys that lead to it."""

    def __init__(self, message: str, *path: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.path = path


def parse_level(given: Mapping[str, object], origin: str, folder: str) -> ConfigLayer:
    """Returns the level in a table of settings. Raises SettingsError."""
    fields: dict[str, Any] = {}
    for key, value in given.items():
        if key not in KEYS:
            raise KeyValueError(f"there is no setting `{key}`", key, remedy=nearest_hint(key, KEYS))
        fields[key.replace("-", "_")] = KEYS[key](value, key)
    if "baseline" in fields:
        fields["baseline"] = os.path.normpath(os.path.join(folder, fields["baseline"]))
    return ConfigLayer(origin, folder, **fields)


def _parse_text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong_type(key, value, "a string")
    return value


def _parse_flag(value: object, key: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(key, value, "true or false")
    return value


def _list_of(read: Callable[[str], _Value]) -> Callable[[object, str], tuple[_Value, ...]]:
    """Returns a parser of a list of texts, each parsed by `read`."""

    def reader(value: object, key: str) -> tuple[_Value, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong_type(key, value, "a list of strings")
        return tuple(_parse_item(read, item, key) for item in value)

    return reader


def _single_of(read: Callable[[str], _Value]) -> Callable[[object, str], _Value]:
    return lambda value, key: _parse_item(read, _parse_text(value, key), key)


def _parse_policy(text: str) -> Policy:
    found = next((each for each in POLICIES if each == text), None)
    if found is None:
        raise RefusedError(f"`{text}` is not a policy", nearest_hint(text, POLICIES))
    return found


def _parse_effort(value: object, key: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise _wrong_type(key, value, "a word or a number")
    return _parse_item(parsers.parse_effort, value, key)


def _table_of(
    read_key: Callable[[str], str], read_value: Callable[[object, str], _Value]
) -> Callable[[object, str], tuple[tuple[str, _Value], ...]]:
    def reader(value: object, key: str) -> tuple[tuple[str, _Value], ...]:
        if not isinstance(value, dict):
            raise _wrong_type(key, value, "a table")
        found = []
        for inner, item in value.items():
            try:
                found.append((read_key(inner), read_value(item, key)))
            except RefusedError as error:
                raise KeyValueError(error.message, key, inner, remedy=error.remedy) from error
        return tuple(found)

    return reader


def _parse_severity_key(text: str) -> str:
    return parsers.parse_code_severity(f"{text}=note")[0]


def _parse_item(read: Callable[[str], _Value], text: str, key: str) -> _Value:
    try:
        return read(text)
    except RefusedError as error:
        raise KeyValueError(f"`{key}`: {error.message}", key, remedy=error.remedy) from error


def _wrong_type(key: str, value: object, wanted: str) -> KeyValueError:
    what = f"`{key}` is {_type_words(value)}, but must be {wanted}"
    return KeyValueError(what, key, remedy=f"write `{key} = {EXAMPLES[key]}`")


def _type_words(value: object) -> str:
    return _KINDS.get(type(value), "something else")


_KINDS = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
EXAMPLES = {
    "select": f'["PTX4", "{ptx5xx.MBARRIER_USE_BEFORE_INIT}"]',
    "extend-select": '["PTX9"]',
    "ignore": f'["{ptx7xx.TENSOR_WAIT}"]',
    "severity": f'{{ {ptx7xx.TENSOR_WAIT} = "note" }}',
    "policy": '"strict"',
    "notes": "true",
    "effort": '"high"',
    "target": '"sm_90a"',
    "ptx-version": '"8.7"',
    "launch": '["k:block=128,cluster=2"]',
    "per-file-ignores": '{ "generated/*" = ["PTX4"] }',
    "baseline": '"known.json"',
}
_IGNORED = _list_of(parsers.parse_ignored_prefix)

KEYS: Mapping[str, Callable[[object, str], object]] = {
    "select": _list_of(parsers.parse_code_prefix),
    "extend-select": _list_of(parsers.parse_code_prefix),
    "ignore": _IGNORED,
    "severity": _table_of(_parse_severity_key, _single_of(parsers.parse_severity)),
    "policy": _single_of(_parse_policy),
    "notes": _parse_flag,
    "effort": _parse_effort,
    "target": _single_of(parsers.parse_target_name),
    "ptx-version": _single_of(parsers.parse_version),
    "launch": _list_of(parsers.parse_launch),
    "per-file-ignores": _table_of(str, _IGNORED),
    "baseline": _parse_text,
}
"""The parser of each setting."""
