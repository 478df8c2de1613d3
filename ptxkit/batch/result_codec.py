"""Encodes results as plain data, without their texts, for the cache and for other processes.

An object is a tuple of the name of its class and the values of its fields, and a tuple is a list. Locations are offsets
into the text, which the receiver has. What only the sender reads is omitted, such as the `proposals` of fixes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from ptxkit.batch.job import JobResult
from ptxkit.diagnostics import Diagnostic, DiagnosticTexts, Edit, Fix, Label, OpenLinesText, Place, Severity, Undecided
from ptxkit.diagnostics.obligation import JudgedObligation, LaunchNeed, ObligationVerdict
from ptxkit.fast_dataclasses import fields, replace
from ptxkit.model.launch_contract import KINDS, ParameterPlace
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile, SourceLine, Span

EncodedResult: TypeAlias = "tuple[Any, ...]"
"""Numbers, strings, booleans, None, and tuples, lists and dictionaries of them."""

_OMITTED: Mapping[type, tuple[str, ...]] = {
    FileResult: ("runs", "traces", "known", "origin"),
    Diagnostic: ("proposals", "payload", "facts", "related"),
    Undecided: ("cause", "text", "others"),
}
_CLASSES: Mapping[str, Any] = {
    each.__name__: each
    for each in (
        *(FileResult, Diagnostic, DiagnosticTexts, OpenLinesText, Label, Place, Fix, Edit, Undecided),
        *(JudgedObligation, LaunchNeed, Span, SourceLine, ParameterPlace, *KINDS),
    )
}
_FIELDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(each.name for each in fields(kind) if each.name not in _OMITTED.get(kind, ()))
    for name, kind in _CLASSES.items()
}
_ENUMERATIONS: Mapping[str, type[StrEnum]] = {"severity": Severity, "status": Status, "verdict": ObligationVerdict}
"""The classes of fields that are members of enumerations, by the name of the field."""


def encode_result(answer: JobResult) -> EncodedResult:
    """Encodes a result as plain data."""
    return _encode(answer.result), answer.fixed_text


def decode_result(data: EncodedResult, source: SourceFile) -> JobResult:
    """Decodes the result of a text. Raises ValueError, TypeError or KeyError for invalid data."""
    result, fixed_source = data
    decoded = _decode(result, source if fixed_source is None else replace(source, text=fixed_source))
    if not isinstance(decoded, FileResult):
        raise TypeError("the data are not a result")
    return JobResult(replace(decoded, path=source.path), fixed_source)


def _encode(value: Any) -> Any:
    name = type(value).__name__
    if name in _FIELDS:
        return (name, *(_encode(getattr(value, each)) for each in _FIELDS[name]))
    if isinstance(value, tuple):
        return [_encode(each) for each in value]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, SourceFile):
        return bool(value.text)
    return _encode_property(value) if isinstance(value, Mapping) else value


def _decode(data: Any, about: SourceFile) -> Any:
    if isinstance(data, list):
        return tuple(_decode(each, about) for each in data)
    if not isinstance(data, tuple):
        return data
    kind, *values = data
    found = {name: _decode(each, about) for name, each in zip(_FIELDS[kind], values, strict=True)}
    if "source" in found:
        found["source"] = about if found["source"] else SourceFile(about.path, "")
    for name in found.keys() & _ENUMERATIONS.keys():
        found[name] = _ENUMERATIONS[name](found[name])
    return _CLASSES[kind](**found)


def _encode_property(value: object) -> Any:
    """Returns a property as all reports show it: members of enumerations are strings, and other values are converted to
    strings.
    """
    if isinstance(value, Mapping):
        return {str(key): _encode_property(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode_property(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else str(value)
