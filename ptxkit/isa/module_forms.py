"""The parts of a PTX module other than instructions, as `grammars/isa/directives.isa` defines them.

Versions, targets, directives, the types of variables, and features of a declaration that were added later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.isa.forms import Gate, Immediates


PLACES = frozenset(
    {"heading", "module", "variable", "global_variable", "kernel_parameter", "prototype", "body", "entry_body"}
    | {"entry", "entry_declaration", "func", "func_declaration"}
)
"""The contexts in which a directive may be written."""

INITIAL = frozenset({"integer", "float", "address", "mask", "fields"})
"""The classes of initial values."""


@dataclass(frozen=True, slots=True)
class DirectiveArgument:
    """One constant after a directive. immediates: the legal ones. optional: it and the following ones may be
    omitted.
    """

    role: str
    immediates: Immediates
    optional: bool = False


@dataclass(frozen=True, slots=True)
class DirectiveForm:
    """A directive, a linkage, an attribute, or a pragma.

    name: without its dot; for a pragma its first word. places: the contexts in which it may be written, e.g. `entry`,
    `func`, `module`. excludes: directives that cannot occur with it. companions: those that must. idle_without: it has
    no effect if none of these occurs with it. once: it cannot be repeated. first: it precedes all others that cannot be
    repeated. last: the contexts in which it follows all others. gates: its requirements.
    """

    name: str
    places: tuple[str, ...]
    arguments: tuple[DirectiveArgument, ...] = ()
    excludes: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    idle_without: tuple[str, ...] = ()
    once: bool = False
    first: bool = False
    last: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    section: str = ""
    summary: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class DataType:
    """A type that variables can have.

    spaces, arrays, vectors: the state spaces of single variables, of arrays, and of vectors, which also must fit in 128
    bits. initial: the classes of initial values: `integer`, `float`, `address`, `mask`, `fields`. fields: of an opaque
    type. symbols: the words for constants in them.
    """

    name: str
    spaces: tuple[str, ...]
    arrays: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    initial: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    section: str = ""


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that is not a directive and was added in a version. words: its description, for messages."""

    name: str
    description: str
    gates: tuple[Gate, ...] = ()
    section: str = ""


@dataclass(frozen=True, slots=True)
class ModuleForms:
    """All of the above. versions: the known ones. targets: by name, without suffix rules, in the order of the file."""

    versions: tuple[tuple[int, int], ...] = ()
    targets: tuple[Feature, ...] = ()
    options: tuple[DirectiveForm, ...] = ()
    directives: tuple[DirectiveForm, ...] = ()
    pragmas: tuple[DirectiveForm, ...] = ()
    types: tuple[DataType, ...] = ()
    features: tuple[Feature, ...] = ()
