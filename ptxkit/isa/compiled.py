"""A compiled copy of the instruction table in the user's cache folder, so that a command need not parse it again.

The file is named after everything it depends on: the texts of the `.isa` files, the code that compiles them and the
Python version. It is JSON, so that reading it can run nothing; forms are made from it one instruction name at a time.
It is written whole and renamed into place, so that two processes may race; where it cannot be written there is none.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from ptxkit.isa import forms as _forms
from ptxkit.isa.expressions import Call, Const, Role
from ptxkit.isa.forms import Form, Gate, Instructions
from ptxkit.isa.sources import isa_files
from ptxkit.resources import grammars

Json: TypeAlias = "int | str | bool | list[Json] | None"

_DIGEST_LENGTH = 64
_COPIES = 4  # of older versions, which another checkout may still use

# What a list stands for, by its first element: 0 a tuple, else a node of this class.
_CLASSES: tuple[type, ...] = (
    tuple,
    Const,
    Role,
    Call,
    _forms.Modifier,
    _forms.Immediates,
    _forms.OperandForm,
    _forms.Requirement,
    _forms.Gate,
    _forms.Rule,
    _forms.EffectForm,
    _forms.Form,
    _forms.SpecialRegister,
)
_NUMBERS = {kind: number for number, kind in enumerate(_CLASSES)}


def load_cached() -> Instructions:
    """The project's table, from the cache where there is a sound copy, else from the `.isa` files."""
    folder = _folder()
    path = folder / f"table-{_key()}.json" if folder is not None else None
    found = _read(path) if path is not None else None
    if found is not None:
        return found
    # Only here: the notation's parser need not be loaded where the copy is sound.
    from ptxkit.isa.loader import load

    found = load()
    if path is not None:
        _write(path, found)
    return found


def _key() -> str:
    digest = hashlib.sha256(sys.version.encode())
    code = sorted(Path(__file__).parent.glob("*.py"))
    for path in (grammars() / "isa.lark", *isa_files(), *code):
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()[:24]


def _folder() -> Path | None:
    """The cache folder, made if need be; None where it is not ours alone."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "ptxkit"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder


def _read(path: Path) -> Instructions | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, body = data[:_DIGEST_LENGTH], data[_DIGEST_LENGTH:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    stored = json.loads(body)
    gates: dict[str, tuple[Gate, ...]] = {value: _decode(node) for value, node in stored["gates"].items()}
    return Instructions(_StoredForms(stored["forms"]), gates, _decode(stored["specials"]))


def _write(path: Path, instructions: Instructions) -> None:
    stored = {
        "forms": {name: _encode(found) for name, found in instructions.forms.items()},
        "gates": {value: _encode(found) for value, found in instructions.value_gates.items()},
        "specials": _encode(instructions.specials),
    }
    body = json.dumps(stored, separators=(",", ":")).encode()
    # A full disk or a read-only folder costs the next command some time, and that is all.
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".table-")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(body).hexdigest().encode() + body)
        Path(temporary).replace(path)
        older = sorted(path.parent.glob("table-*"), key=lambda each: each.stat().st_mtime, reverse=True)
        for stale in older[_COPIES:]:
            stale.unlink(missing_ok=True)


class _StoredForms(Mapping[str, tuple[Form, ...]]):
    """Forms by instruction name, made from their stored shape when first asked for."""

    def __init__(self, stored: Mapping[str, Json]) -> None:
        self._stored = stored
        self._made: dict[str, tuple[Form, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Form, ...]:
        if name not in self._made:
            self._made[name] = _decode(self._stored[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def _encode(value: object) -> Json:
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, tuple):
        return [0, *map(_encode, value)]
    assert dataclasses.is_dataclass(value), value
    parts = (getattr(value, field.name) for field in dataclasses.fields(value))
    return [_NUMBERS[type(value)], *map(_encode, parts)]


def _decode(node: Json):  # type: ignore[no-untyped-def]
    """The value that `_encode` was given; its type is what was stored."""
    if not isinstance(node, list):
        return node
    kind = node[0]
    parts = [_decode(part) if type(part) is list else part for part in node[1:]]
    return tuple(parts) if kind == 0 else _CLASSES[kind](*parts)  # type: ignore[index]
