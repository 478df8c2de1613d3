"""A cache of bound opcodes and of the builder's choices, for later processes.

Binding an opcode to its forms takes a millisecond or two, and choosing a form for a method of the builder binds a dozen
opcodes: four fifths of the time of building one kernel in a process. So the results are stored with the compiled table,
one entry for each opcode, and each is read on first use. A cache belongs to one state of the installation: another
state has its own file.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeAlias

from ptxkit.content_store import ContentStore, user_cache_folder
from ptxkit.installation import installation_stamp
from ptxkit.isa.compiled_table import TableDecoder, TableEncoder
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.limits import MAX_MATCH_ENTRIES, MAX_MATCH_FILES

ChoiceKey: TypeAlias = "tuple[object, ...]"
"""A name, and the properties of the operands that determine the choice."""
FormChoice: TypeAlias = "tuple[str, int]"
"""An opcode, and the index of the form among its matches."""

_MAPPING_FIELDS = frozenset({"modifiers", "roles", "paths"})
"""Fields of a match that are stored as pairs."""


class MatchStore:
    """The cached results. chosen: the builder's choices, by a key of plain data that begins with a name."""

    def __init__(self, opcodes: Mapping[str, bytes], chosen: Mapping[ChoiceKey, FormChoice]) -> None:
        self.opcodes = opcodes
        self.choices = chosen

    @cached_property
    def choice_names(self) -> frozenset[object]:
        """The names of all keys."""
        return frozenset(key[0] for key in self.choices)

    def candidates(self, opcode: str) -> tuple[Match, ...] | None:
        """Returns the forms that an opcode may have, or None if it is not cached."""
        stored = self.opcodes.get(opcode)
        return None if stored is None else _decode(stored)

    def store(self, matches: Mapping[str, tuple[Match, ...]], chosen: Mapping[ChoiceKey, FormChoice]) -> None:
        """Adds the results of this process, by opcode and by key, and writes them to disk if possible."""
        opcodes = {opcode: _encode(found) for opcode, found in matches.items() if opcode not in self.opcodes}
        fresh = {key: choice for key, choice in chosen.items() if key not in self.choices}
        disk = _disk_store()
        if disk.folder is None or not (opcodes or fresh):
            return
        others = _read_store(disk) or MatchStore({}, {})  # written by other processes in the meantime
        if max(len(others.opcodes) + len(opcodes), len(others.choices) + len(fresh)) > MAX_MATCH_ENTRIES:
            others = MatchStore({}, {})
        self.opcodes, self.choices = {**others.opcodes, **opcodes}, {**others.choices, **fresh}
        if disk.put(_entry_name(), installation_stamp(), (self.opcodes, self.choices)):
            disk.evict()


def load_store() -> MatchStore:
    """Returns the cache, which is empty if there is no valid file."""
    return _read_store(_disk_store()) or MatchStore({}, {})


def _read_store(disk: ContentStore) -> MatchStore | None:
    match disk.get(_entry_name(), installation_stamp()):
        case (dict() as opcodes, dict() as chosen):
            return MatchStore(opcodes, chosen)
    return None


def _disk_store() -> ContentStore:
    return ContentStore(user_cache_folder(), "matches.", max_entries=MAX_MATCH_FILES)


def _entry_name() -> str:
    return f"{sys.implementation.cache_tag}.{installation_stamp()[:16]}"


def _encode(matches: Iterable[Match]) -> bytes:
    writer = TableEncoder()
    places = [tuple(writer.index_of(_to_plain(name, getattr(each, name))) for name in _fields()) for each in matches]
    classes = [(kind.__module__, kind.__qualname__) for kind in writer.classes]
    return marshal.dumps((writer.entries, classes, places))


def _decode(stored: bytes) -> tuple[Match, ...]:
    entries, classes, places = marshal.loads(stored)
    reader = TableDecoder(entries, [getattr(import_module(module), name) for module, name in classes])
    return tuple(_lazy_match(reader, each) for each in places)


class _LazyMatch(Match):
    """A cached match. Its form, which is most of it, is only constructed on first use."""

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


def _lazy_match(reader: TableDecoder, places: Iterable[int]) -> Match:
    made, keep = _LazyMatch.__new__(_LazyMatch), object.__setattr__
    for name, at in zip(_fields(), places, strict=True):
        if name == "form":
            keep(made, "_form", partial(reader.value_at, at))
        else:
            keep(made, name, _from_plain(name, reader.value_at(at)))
    return made


def _fields() -> tuple[str, ...]:
    return Match.__match_args__


def _to_plain(name: str, value: Any) -> Any:
    return tuple(value.items()) if name in _MAPPING_FIELDS else value


def _from_plain(name: str, value: Any) -> Any:
    return MappingProxyType(dict(value)) if name in _MAPPING_FIELDS else value
