"""The keys of a settings file: what each may hold, and the level that a table of them gives.

An unknown key, or a value that is none, is a `KeyValueError`, which names the path of the key inside the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ptxkit.diagnostics.catalogue import ptx5xx, ptx7xx
from ptxkit.settings import parsers
from ptxkit.settings.errors import nearest_hint
from ptxkit.settings.model import POLICIES, ConfigLayer, Policy

_Value = TypeVar("_Value")


class KeyValueError(ValueError):
    """What is wrong with the value of a key, or that there is no such key. path: the keys that lead there."""

    def __init__(self, message: str, *path: str) -> None:
        super().__init__(message)
        self.path = path


def parse_level(given: Mapping[str, object], origin: str, folder: str) -> ConfigLayer:
    """What a table of settings says. Raises SettingError."""
    fields: dict[str, Any] = {}
    for key, value in given.items():
        if key not in KEYS:
            raise KeyValueError(f"there is no setting `{key}`{nearest_hint(key, KEYS)}", key)
        fields[key.replace("-", "_")] = KEYS[key](value, key)
    if "baseline" in fields:
        fields["baseline"] = os.path.normpath(os.path.join(folder, fields["baseline"]))
    return ConfigLayer(origin, folder, **fields)


def _parse_text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise KeyValueError(f"`{key}` is {_type_words(value)}, but must be a string, like {_EXAMPLES[key]}", key)
    return value


def _parse_flag(value: object, key: str) -> bool:
    if not isinstance(value, bool):
        raise KeyValueError(f"`{key}` is {_type_words(value)}, but must be true or false", key)
    return value


def _list_of(read: Callable[[str], _Value]) -> Callable[[object, str], tuple[_Value, ...]]:
    """Of a list of texts, each read by `read`."""

    def reader(value: object, key: str) -> tuple[_Value, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise KeyValueError(
                f"`{key}` is {_type_words(value)}, but must be a list of strings, like {_EXAMPLES[key]}", key
            )
        return tuple(_parse_item(read, item, key) for item in value)

    return reader


def _single_of(read: Callable[[str], _Value]) -> Callable[[object, str], _Value]:
    return lambda value, key: _parse_item(read, _parse_text(value, key), key)


def _parse_policy(text: str) -> Policy:
    found = next((each for each in POLICIES if each == text), None)
    if found is None:
        raise ValueError(f"`{text}` is not a policy{nearest_hint(text, POLICIES)}")
    return found


def _table_of(
    read_key: Callable[[str], str], read_value: Callable[[object, str], _Value]
) -> Callable[[object, str], tuple[tuple[str, _Value], ...]]:
    def reader(value: object, key: str) -> tuple[tuple[str, _Value], ...]:
        if not isinstance(value, dict):
            raise KeyValueError(f"`{key}` is {_type_words(value)}, but must be a table, like {_EXAMPLES[key]}", key)
        found = []
        for inner, item in value.items():
            try:
                found.append((read_key(inner), read_value(item, key)))
            except ValueError as error:
                raise KeyValueError(str(error), key, inner) from error
        return tuple(found)

    return reader


def _parse_severity_key(text: str) -> str:
    return parsers.parse_code_severity(f"{text}=note")[0]


def _parse_item(read: Callable[[str], _Value], text: str, key: str) -> _Value:
    try:
        return read(text)
    except ValueError as error:
        raise KeyValueError(f"`{key}`: {error}", key) from error


def _type_words(value: object) -> str:
    return _KINDS.get(type(value), "something else")


_KINDS = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
_EXAMPLES = {
    "select": f'["PTX4", "{ptx5xx.MBARRIER_USE_BEFORE_INIT}"]',
    "extend-select": '["PTX9"]',
    "ignore": f'["{ptx7xx.TENSOR_WAIT}"]',
    "severity": f'{{ {ptx7xx.TENSOR_WAIT} = "note" }}',
    "policy": '"strict"',
    "target": '"sm_90a"',
    "version": '"8.7"',
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
    "target": _single_of(parsers.parse_target_name),
    "version": _single_of(parsers.parse_version),
    "launch": _list_of(parsers.parse_launch),
    "per-file-ignores": _table_of(str, _IGNORED),
    "baseline": _parse_text,
}
"""Each setting, and what reads its value."""
