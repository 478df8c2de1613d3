"""The instruction table as plain data, which `ptxkit.compile_cache` caches, so that a command need not parse it again.

All values of the table are in one list, each distinct one once: a text or number as it is, a tuple or an object as the
index of its class and of its parts. A mapping of the table maps names to indices, and its values are constructed on
first use. Values that are never needed to check a module are in a separate list, as bytes.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, TypeAlias

from ptxkit.compile_cache import load_or_compile
from ptxkit.gc_control import pause_collection
from ptxkit.installation import grammar_files, python_files
from ptxkit.isa.forms import InstructionSet

Entry: TypeAlias = "int | float | str | bool | tuple[int, ...] | None"
Stored: TypeAlias = "tuple[list[Entry], list[tuple[str, str]], dict[str, int | dict[str, int] | bytes]]"
"""The entries; the classes by module and name; for each field of `InstructionSet` its index, or those of its values, or
the same for that field only.
"""

NAME = "table"
_HOME = "ptxkit.isa."
"""The modules that define the classes of a table."""
_LAZY_FIELDS = frozenset({"meanings"})
"""Fields that are only read on first use."""


def load_cached() -> InstructionSet:
    """Returns the project's table, from a valid compiled copy, else from the `.isa` files."""
    return decode(load_or_compile(NAME, sources(), compile_table))


def sources() -> list[str]:
    """Returns every file that the compiled table depends on."""
    return [
        *grammar_files("isa.lark", "isa"),
        *python_files("isa"),
        sys.modules[load_or_compile.__module__].__file__ or "",
    ]


def compile_table() -> Stored:
    """Returns the table of the `.isa` files as plain data. Raises `NotationError` for an error in them."""
    # Imported here only, because the notation's parser is not needed if there is a compiled copy.
    from ptxkit.isa.loader import load_instructions

    with pause_collection():
        return encode(load_instructions())


def encode(instructions: InstructionSet) -> Stored:
    """Returns a table as plain data."""
    fields: dict[str, Any] = {name: getattr(instructions, name) for name in instructions.__match_args__}
    entries, classes, table = _encode({name: value for name, value in fields.items() if name not in _LAZY_FIELDS})
    return entries, classes, table | {name: marshal.dumps(_encode({name: fields[name]})) for name in _LAZY_FIELDS}


def _encode(fields: Mapping[str, Any]) -> Stored:
    writer = TableEncoder()
    table: dict[str, int | dict[str, int] | bytes] = {}
    for name, value in fields.items():
        is_mapping = isinstance(value, Mapping)
        table[name] = (
            {key: writer.index_of(each) for key, each in value.items()} if is_mapping else writer.index_of(value)
        )
    return writer.entries, [(kind.__module__, kind.__qualname__) for kind in writer.classes], table


def decode(stored: Stored) -> InstructionSet:
    """Returns the table that `encode` was given."""
    return InstructionSet(**_decode(stored))


def _decode(stored: Stored) -> dict[str, Any]:
    entries, classes, table = stored
    reader = TableDecoder(entries, [getattr(import_module(module), name) for module, name in classes])

    def value(name: str, at: int | dict[str, int] | bytes) -> Any:
        if isinstance(at, bytes):
            return _LazyMapping(name, at)
        return _DecodedMapping(reader, at) if isinstance(at, dict) else reader.value_at(at)

    return {name: value(name, at) for name, at in table.items()}


class TableEncoder:
    """Stores values, each once."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.classes: list[Any] = [tuple]
        self._indices: dict[tuple[type, Entry], int] = {}

    def index_of(self, value: object) -> int:
        if value is None or isinstance(value, int | float | str):
            return self._append(value)
        kind: Any = type(value)
        parts = value if isinstance(value, tuple) else [getattr(value, name) for name in kind.__match_args__]
        if kind not in self.classes:
            assert kind.__module__.startswith(_HOME), f"{kind} is not among the classes of a table"
            self.classes.append(kind)
        return self._append((self.classes.index(kind), *map(self.index_of, parts)))

    def _append(self, entry: Entry) -> int:
        key = (type(entry), repr(entry) if isinstance(entry, float) else entry)  # 1, 1.0 and True are equal
        found = self._indices.get(key)
        if found is None:
            found = self._indices[key] = len(self.entries)
            self.entries.append(entry)
        return found


class TableDecoder:
    """Constructs values from entries, each once."""

    def __init__(self, entries: list[Entry], classes: list[type]) -> None:
        self._entries, self._classes = entries, classes
        self._values: dict[int, Any] = {}

    def value_at(self, place: int) -> Any:
        """Returns the value at an index."""
        made = self._values.get(place)
        if made is None:
            entry = self._entries[place]
            if type(entry) is not tuple:
                return entry
            kind, *parts = entry
            entries = self._entries  # most parts are plain, and a call for each of them would take most of the time
            values = [self.value_at(part) if type(entries[part]) is tuple else entries[part] for part in parts]
            made = self._values[place] = self._classes[kind](*values) if kind else tuple(values)
        return made


class _DecodedMapping(Mapping[str, Any]):
    """Values by name, constructed on first use."""

    def __init__(self, reader: TableDecoder, places: Mapping[str, int]) -> None:
        self._reader, self._indices = reader, places

    def __getitem__(self, name: str) -> Any:
        return self._reader.value_at(self._indices[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class _LazyMapping(Mapping[str, Any]):
    """A mapping of the table that is read from its bytes on first use."""

    def __init__(self, name: str, data: bytes) -> None:
        self._name, self._data = name, data

    @cached_property
    def _values(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = _decode(marshal.loads(self._data))[self._name]
        return found

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
