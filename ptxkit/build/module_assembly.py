"""Converts recorded statements to the syntax tree that the parser would produce."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ptxkit.build.declarations import DYNAMIC_SHARED
from ptxkit.build.errors import BuildError
from ptxkit.build.expected_bytes_check import check_expected_bytes
from ptxkit.build.recorder import RecordedStatement
from ptxkit.build.target_inference import infer_lowest_target
from ptxkit.build.uninitialized_registers import check_registers_initialized
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.limits import MAX_STATIC_SHARED_BYTES
from ptxkit.kernel_model.source_lines import Assembled, Location
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder
    from ptxkit.isa.forms import Gate
    from ptxkit.isa.targets import Target


@dataclass(frozen=True, slots=True)
class _FunctionEntries:
    """A routine with the statements that the module contains for it."""

    routine: InstructionBuilder
    entries: tuple[RecordedStatement, ...]


@dataclass(frozen=True, slots=True)
class _AssembledBody:
    """The body of one routine, with the locations and boxes of `Assembled`."""

    tree: tree.Body
    locations: tuple[Location | None, ...]
    boxes: tuple[tuple[int, int], ...]


def assemble_module(routine: InstructionBuilder) -> Assembled:
    """Returns the module of a kernel or a function and of the functions that it calls.

    Raises `BuildError` for a label that is never placed, for requirements that exclude each other, and for two
    definitions of one name.
    """
    parts = _collect_parts(routine)
    for part in parts:
        part.routine.check_complete()
        check_expected_bytes(part.routine)
        _check_labels(part.entries)
        check_registers_initialized(part.routine)
    _check_static_shared_size(parts)
    files = _number_files(parts) if routine.debug else {}
    bodies = [_assemble_body(part, files) for part in parts]
    items: tuple[tree.Item, ...] = (
        *_make_header(parts),
        *_debug_files(files),
        *(constant for part in parts for constant in part.routine.declarations.constants),
        *_dynamic_shared_declaration(routine),
        *_forward_declarations(parts),
        *(part.routine.to_function(body.tree) for part, body in zip(parts, bodies, strict=True)),
    )
    _check_names(items, parts)
    locations = [(part.routine.name, body.locations) for part, body in zip(parts, bodies, strict=True)]
    boxes = [(part.routine.name, *box) for part, body in zip(parts, bodies, strict=True) for box in body.boxes]
    return Assembled(tree.Module(items), locations[-1][1], tuple(locations[:-1]), tuple(boxes))


def statements_of(routine: InstructionBuilder) -> Iterator[RecordedStatement]:
    """Yields the statements of a kernel or a function and of the functions that it calls, as the module has them."""
    for part in _collect_parts(routine):
        yield from part.entries


def module_heading(routine: InstructionBuilder) -> tuple[tuple[int, int], Target]:
    """Returns the version and the target of the module. Raises `BuildError` for requirements that exclude each
    other.
    """
    return _infer_heading(_collect_parts(routine))


def _collect_parts(routine: InstructionBuilder) -> list[_FunctionEntries]:
    return _select_fallbacks([_FunctionEntries(each, _with_final_return(each)) for each in routine.list_call_graph()])


def _assemble_body(part: _FunctionEntries, files: dict[str, int]) -> _AssembledBody:
    """Returns the statements of one routine, and their locations."""
    statements: list[tree.Statement] = [*_register_declarations(part.routine), *part.routine.declarations.variables]
    locations: list[Location | None] = [None] * len(statements)
    boxes: list[tuple[int, int]] = []
    for entry in part.entries:
        if files and isinstance(entry.statement, tree.Instruction | tree.Block):
            words = (str(files[entry.location.file]), str(entry.location.line), "0")
            statements.append(tree.Directive("loc", words))
            locations.append(entry.location)
        if entry.copy_bytes is not None:
            boxes.append((len(statements), entry.copy_bytes))
        statements.append(entry.statement)
        locations.append(entry.location)
    return _AssembledBody(tree.Body(tuple(statements)), tuple(locations), tuple(boxes))


def _with_final_return(routine: InstructionBuilder) -> tuple[RecordedStatement, ...]:
    """Returns the entries, with a `ret` at the end if the user wrote none."""
    entries = routine.recorder.entries()
    last = entries[-1].statement if entries else None
    if isinstance(last, tree.Instruction) and last.guard is None and last.opcode in ("ret", "exit"):
        return entries
    return (*entries, RecordedStatement(tree.Instruction("ret"), routine.location))


def _forward_declarations(parts: Sequence[_FunctionEntries]) -> Iterator[tree.Function]:
    """Yields external functions, and functions that are called before the module defines them."""
    standing: set[str] = set()
    declared: set[str] = set()
    for part in parts:
        standing.add(part.routine.name)
        for name, called in part.routine.callees.items():
            if name not in standing | declared:
                declared.add(name)
                yield called.prototype.to_function()


# ----------------------------------------------------------------------------------------------- checks


def _check_labels(entries: tuple[RecordedStatement, ...]) -> None:
    placed = {entry.statement.name for entry in entries if isinstance(entry.statement, tree.LabelStatement)}
    for entry in entries:
        statement = entry.statement
        for operand in statement.operands if isinstance(statement, tree.Instruction) else ():
            if isinstance(operand, tree.Name) and operand.text.startswith("$") and operand.text not in placed:
                raise BuildError(f"label {operand.text} is branched to and never placed", entry.location)


def _check_static_shared_size(parts: Sequence[_FunctionEntries]) -> None:
    size = sum(part.routine.declarations.static_bytes for part in parts)
    if size > MAX_STATIC_SHARED_BYTES:
        raise BuildError(
            f"{size} bytes of shared arrays in {', '.join(part.routine.name for part in parts)} together; "
            f"more than {MAX_STATIC_SHARED_BYTES} must be launch-sized: k.dynamic_shared(...)",
            parts[-1].routine.location,
        )


def _check_names(items: Sequence[tree.Item], parts: Sequence[_FunctionEntries]) -> None:
    """Raises `BuildError` if two items of the module have the same name, such as a function and an array of
    constants.
    """
    standing = {part.routine.name for part in parts}
    names = Counter(item.name for item in items if isinstance(item, tree.Function) and item.body is not None)
    names += Counter(each.name for item in items if isinstance(item, tree.Declaration) for each in item.declarators)
    names += Counter({called.name for part in parts for called in part.routine.callees.values()} - standing)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise BuildError(f"the name {twice[0]!r} has two meanings in one module", parts[-1].routine.location)


# ----------------------------------------------------------------------------------------------- header


def _select_fallbacks(parts: list[_FunctionEntries]) -> list[_FunctionEntries]:
    """Selects the older of two alternative instructions where this allows the module to have a lower target."""
    if not any(entry.fallback for part in parts for entry in part.entries):
        return parts
    low = [_FunctionEntries(part.routine, tuple(entry.fallback or entry for entry in part.entries)) for part in parts]
    try:
        _, lower = infer_lowest_target(_collect_gates(low), _explicit_target(parts))
        infer_lowest_target(_collect_gates(parts), lower)
    except ValueError:
        return low
    return parts


def _collect_gates(parts: Sequence[_FunctionEntries]) -> list[Gate]:
    """Returns the requirements of the instructions and the special registers."""
    gates = [gate for part in parts for entry in part.entries if entry.match is not None for gate in entry.match.gates]
    return gates + [gate for part in parts for gate in (*part.routine.raw_gates, *part.routine.special_gates())]


def _infer_heading(parts: Sequence[_FunctionEntries]) -> tuple[tuple[int, int], Target]:
    target = _explicit_target(parts)
    try:
        return infer_lowest_target(_collect_gates(parts), target)
    except ValueError as error:
        name = parts[-1].routine.name
        raise BuildError(f"kernel {name!r}: {error}", _find_excluded_instruction(parts, target)) from None


def _make_header(parts: Sequence[_FunctionEntries]) -> tuple[tree.Directive, ...]:
    (major, minor), target = _infer_heading(parts)
    return (
        tree.Directive("version", (f"{major}.{minor}",)),
        tree.Directive("target", (str(target),)),
        tree.Directive("address_size", ("64",)),
    )


def _explicit_target(parts: Sequence[_FunctionEntries]) -> Target | None:
    """Returns the target that the kernel or one of its functions states; a module has one target."""
    named = {part.routine.target: part.routine for part in parts if part.routine.target is not None}
    if len(named) > 1:
        words = " and ".join(f"{routine.name!r} for {target}" for target, routine in named.items())
        raise BuildError(f"a module has one target, and here is {words}", parts[-1].routine.location)
    return next(iter(named), None)


def _find_excluded_instruction(parts: Sequence[_FunctionEntries], target: Target | None) -> Location:
    """Returns the first instruction that is not available on the target or contradicts the instructions before it."""
    gates = [gate for part in parts for gate in (*part.routine.raw_gates, *part.routine.special_gates())]
    for entry in (entry for part in reversed(parts) for entry in part.entries):
        gates += entry.match.gates if entry.match else ()
        try:
            infer_lowest_target(gates, target)
        except ValueError:
            return entry.location
    return parts[-1].routine.location


def _number_files(parts: Sequence[_FunctionEntries]) -> dict[str, int]:
    names = dict.fromkeys(entry.location.file for part in parts for entry in part.entries)
    return {name: number for number, name in enumerate(names, start=1)}


def _debug_files(files: dict[str, int]) -> tuple[tree.Directive, ...]:
    return tuple(tree.Directive("file", (str(number), f'"{name}"')) for name, number in files.items())


# ---------------------------------------------------------------------------------------- declarations


def _dynamic_shared_declaration(routine: InstructionBuilder) -> tuple[tree.Declaration, ...]:
    if not routine.dynamic_alignment:
        return ()
    declarator = tree.Declarator(DYNAMIC_SHARED, dimensions=(None,))
    return (tree.Declaration("shared", "b8", (declarator,), linkage=("extern",), alignment=routine.dynamic_alignment),)


def _register_declarations(routine: InstructionBuilder) -> list[tree.Declaration]:
    return [
        tree.Declaration("reg", word, (tree.Declarator(prefix, count=count),))
        for (word, prefix), count in sorted(routine.recorder.register_counts.items())
    ]
