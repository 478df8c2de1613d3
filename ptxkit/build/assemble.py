"""From what was recorded to the tree that the parser would make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.build.errors import BuildError, Location
from ptxkit.build.gates import lowest
from ptxkit.build.recorder import Entry
from ptxkit.build.tensormap import BYTES
from ptxkit.build.types import memory_word
from ptxkit.records import dataclass
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.kernel import Kernel, Parameter


@dataclass(frozen=True, slots=True)
class Assembled:
    """A module, and for each statement of its kernel's body the user's line (None for declarations)."""

    module: tree.Module
    locations: tuple[Location | None, ...]


def assemble(kernel: Kernel) -> Assembled:
    """The module of one kernel; `BuildError` for a label that is nowhere, or gates that exclude each other."""
    entries = _ended(kernel)
    _check_labels(entries)
    files = _files(entries) if kernel.debug else {}
    statements: list[tree.Statement] = [*_registers(kernel), *kernel.variables]
    locations: list[Location | None] = [None] * len(statements)
    for entry in entries:
        if files and isinstance(entry.statement, tree.Instruction):
            words = (str(files[entry.location.file]), str(entry.location.line), "0")
            statements.append(tree.Directive("loc", words))
            locations.append(entry.location)
        statements.append(entry.statement)
        locations.append(entry.location)
    function = tree.Function(
        "entry",
        kernel.name,
        parameters=tuple(_parameter(parameter) for parameter in kernel.parameters),
        linkage=("visible",),
        directives=_launch_bounds(kernel),
        body=tree.Body(tuple(statements)),
    )
    items: tuple[tree.Item, ...] = (
        *_header(kernel, entries),
        *_debug_files(files),
        *kernel.constants,
        *_dynamic(kernel),
        function,
    )
    return Assembled(tree.Module(items), tuple(locations))


def _ended(kernel: Kernel) -> tuple[Entry, ...]:
    """The entries, with a `ret` at the end where the user wrote none."""
    entries = kernel.entries()
    last = entries[-1].statement if entries else None
    if isinstance(last, tree.Instruction) and last.guard is None and last.opcode in ("ret", "exit"):
        return entries
    return (*entries, Entry(tree.Instruction("ret"), kernel.location))


def _check_labels(entries: tuple[Entry, ...]) -> None:
    placed = {entry.statement.name for entry in entries if isinstance(entry.statement, tree.LabelStatement)}
    for entry in entries:
        statement = entry.statement
        for operand in statement.operands if isinstance(statement, tree.Instruction) else ():
            if isinstance(operand, tree.Name) and operand.text.startswith("$") and operand.text not in placed:
                raise BuildError(f"label {operand.text} is branched to and never placed", entry.location)


def _header(kernel: Kernel, entries: tuple[Entry, ...]) -> tuple[tree.Directive, ...]:
    gates = [gate for entry in entries if entry.match is not None for gate in entry.match.gates]
    try:
        (major, minor), target = lowest((*gates, *kernel.raw_gates, *kernel.special_gates()), kernel.target)
    except ValueError as error:
        raise BuildError(f"kernel {kernel.name!r}: {error}", _excluded(kernel, entries)) from None
    return (
        tree.Directive("version", (f"{major}.{minor}",)),
        tree.Directive("target", (str(target),)),
        tree.Directive("address_size", ("64",)),
    )


def _excluded(kernel: Kernel, entries: tuple[Entry, ...]) -> Location:
    """The first instruction that the target, or what stands before it, excludes."""
    gates = [*kernel.raw_gates, *kernel.special_gates()]
    for entry in entries:
        gates += entry.match.gates if entry.match else ()
        try:
            lowest(gates, kernel.target)
        except ValueError:
            return entry.location
    return kernel.location


def _files(entries: tuple[Entry, ...]) -> dict[str, int]:
    names = dict.fromkeys(entry.location.file for entry in entries)
    return {name: number for number, name in enumerate(names, start=1)}


def _debug_files(files: dict[str, int]) -> tuple[tree.Directive, ...]:
    return tuple(tree.Directive("file", (str(number), f'"{name}"')) for name, number in files.items())


def _dynamic(kernel: Kernel) -> tuple[tree.Declaration, ...]:
    from ptxkit.build.memory import DYNAMIC_SHARED

    if not kernel.dynamic_alignment:
        return ()
    declarator = tree.Declarator(DYNAMIC_SHARED, dimensions=(None,))
    return (tree.Declaration("shared", "b8", (declarator,), linkage=("extern",), alignment=kernel.dynamic_alignment),)


def _parameter(parameter: Parameter) -> tree.Declaration:
    if parameter.tensor is not None:
        block = (tree.Declarator(parameter.name, dimensions=(BYTES,)),)
        return tree.Declaration("param", "b8", block, alignment=parameter.alignment)
    declarators = (tree.Declarator(parameter.name),)
    if parameter.space is None:
        return tree.Declaration("param", memory_word(parameter.type), declarators)
    pointer = () if parameter.space == "generic" else (parameter.space,)
    return tree.Declaration("param", "u64", declarators, pointer=pointer, pointer_alignment=parameter.alignment)


def _launch_bounds(kernel: Kernel) -> tuple[tree.Directive, ...]:
    found = []
    if kernel.threads is not None:
        found.append(tree.Directive("reqntid", tuple(map(str, kernel.threads))))
    if kernel.cluster is not None:
        found.append(tree.Directive("reqnctapercluster", tuple(map(str, kernel.cluster))))
    if kernel.registers is not None:
        found.append(tree.Directive("maxnreg", (str(kernel.registers),)))
    return tuple(found)


def _registers(kernel: Kernel) -> list[tree.Declaration]:
    return [
        tree.Declaration("reg", word, (tree.Declarator(prefix, count=count),))
        for (word, prefix), count in sorted(kernel.register_counts.items())
    ]
