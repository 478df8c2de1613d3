"""What opcodes were bound to and what the builder chose, kept for the next process.

Binding an opcode to the forms that it may have takes a millisecond or two, and choosing a form for a method of the
builder binds a dozen opcodes: four fifths of what building a kernel costs in a process that does so once. So what
instructions were found to be is kept beside the compiled table, an opcode an entry, each read when it is asked for.
What is kept belongs to one state of the installation: another has a file of its own.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeAlias

from ptxkit.cache import Key, clear, read, stamp, user_folder, write
from ptxkit.isa.compiled import Reader, Writer
from ptxkit.isa.forms import Form, Match

Choosing: TypeAlias = "tuple[object, ...]"
"""A name, and what of the operands decides."""
Choice: TypeAlias = "tuple[str, int]"
"""An opcode, and which of the forms that it may have."""

_NAME = "matches"
_KEPT = 4
"""Files of other states of the installation, which another checkout may still use."""
_LIMIT = 4096
"""Entries of each kind; a file with more begins anew."""
_MAPPINGS = frozenset({"modifiers", "roles", "paths"})
"""Fields of a match that are stored as pairs."""


class Memory:
    """What is remembered. chosen: what the builder chose, by a key of plain data that begins with a name."""

    def __init__(self, opcodes: Mapping[str, bytes], chosen: Mapping[Choosing, Choice]) -> None:
        self.opcodes = opcodes
        self.chosen = chosen

    @cached_property
    def names(self) -> frozenset[object]:
        """What was asked for by name."""
        return frozenset(key[0] for key in self.chosen)

    def candidates(self, opcode: str) -> tuple[Match, ...] | None:
        """The forms that an opcode may have; None where nothing is known of it."""
        stored = self.opcodes.get(opcode)
        return None if stored is None else _decode(stored)

    def keep(self, matches: Mapping[str, tuple[Match, ...]], chosen: Mapping[Choosing, Choice]) -> None:
        """Adds what this process found, by opcode and by key, and writes it down where that can be done."""
        opcodes = {opcode: _encode(found) for opcode, found in matches.items() if opcode not in self.opcodes}
        fresh = {key: choice for key, choice in chosen.items() if key not in self.chosen}
        place = _place()
        if place is None or not (opcodes or fresh):
            return
        others = _read() or Memory({}, {})  # what other processes wrote since this one began
        if max(len(others.opcodes) + len(opcodes), len(others.chosen) + len(fresh)) > _LIMIT:
            others = Memory({}, {})
        self.opcodes, self.chosen = {**others.opcodes, **opcodes}, {**others.chosen, **fresh}
        folder, path = place
        with suppress(OSError, ValueError):  # ValueError: a key that is no plain data
            write(path, _key(), (self.opcodes, self.chosen))
            clear(folder, f"{_NAME}.", _KEPT)


def recall() -> Memory:
    """What is kept; an empty memory where nothing is, or nothing sound."""
    return _read() or Memory({}, {})


def _read() -> Memory | None:
    place = _place()
    found = None if place is None else read(place[1], _key())
    match found:
        case (dict() as opcodes, dict() as chosen):
            return Memory(opcodes, chosen)
    return None


def _place() -> tuple[str, str] | None:
    """The folder and the file; None where there is no folder of ours."""
    folder = user_folder()
    if folder is None:
        return None
    return folder, os.path.join(folder, f"{_NAME}.{sys.implementation.cache_tag}.{stamp()[:16]}.bin")


def _key() -> Key:
    return ((stamp(), 0, 0),)


def _encode(matches: Iterable[Match]) -> bytes:
    writer = Writer()
    places = [tuple(writer.place(_plain(name, getattr(each, name))) for name in _fields()) for each in matches]
    classes = [(kind.__module__, kind.__qualname__) for kind in writer.classes]
    return marshal.dumps((writer.entries, classes, places))


def _decode(stored: bytes) -> tuple[Match, ...]:
    entries, classes, places = marshal.loads(stored)
    reader = Reader(entries, [getattr(import_module(module), name) for module, name in classes])
    return tuple(_recalled(reader, each) for each in places)


class _Recalled(Match):
    """A match that is remembered. Its form, which is most of it, is only made for who asks for it."""

    __slots__ = ("_form",)

    _form: Callable[[], Form]

    def __getattr__(self, name: str) -> Any:
        if name != "form":
            raise AttributeError(name)
        form = self._form()
        object.__setattr__(self, "form", form)
        return form

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _fields())

    __hash__ = object.__hash__


def _recalled(reader: Reader, places: Iterable[int]) -> Match:
    made, keep = _Recalled.__new__(_Recalled), object.__setattr__
    for name, at in zip(_fields(), places, strict=True):
        if name == "form":
            keep(made, "_form", partial(reader.at, at))
        else:
            keep(made, name, _value(name, reader.at(at)))
    return made


def _fields() -> tuple[str, ...]:
    return Match.__match_args__


def _plain(name: str, value: Any) -> Any:
    return tuple(value.items()) if name in _MAPPINGS else value


def _value(name: str, value: Any) -> Any:
    return MappingProxyType(dict(value)) if name in _MAPPINGS else value
