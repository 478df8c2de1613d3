"""Detects registers that are read by threads that have not written them: `BuildError` at the line of the read.

    with k.if_(i < n):
        value = data[i].load()
    out[i].store(value * 2.0)              # has no value where i >= n

Only certain errors are reported: a path bypasses all definitions of the register, by a branch or a guard that does not
hold, and from there every path stores a value that depends on the register, uses it in an address, or branches on it.
It is assumed that the path can be taken. Operands whose value an instruction may ignore are not such uses: operands of
`selp`, of a shuffle or of a logical operation, elements of a vector, arguments of a call. Registers that a loop writes
are assumed to be written after it, because that depends on the number of iterations. Registers that no instruction
writes are left to the reference machine.

Source: PTX ISA, "State Spaces: Register State Space".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from ptxkit.build.errors import BuildError
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Control, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Match
from ptxkit.kernel_model.source_lines import Location
from ptxkit.syntax import tree
from ptxkit.syntax.nested_instructions import iterate_instructions

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder
    from ptxkit.build.recorder import RecordedStatement

_STRICT_OPERATIONS = frozenset(
    {"abs", "add", "compare", "convert", "copy", "from_generic", "invert", "neg", "sub", "to_generic", "unpack", "xor"}
    | {"convert_float", "fabs", "fadd", "fdiv", "ffma", "float_to_integer", "fmul", "fneg", "frcp", "fsqrt", "fsub"}
    | {"integer_to_float"}
)
"""Value operations and semantic functions of the table whose result depends on each operand, whatever the others are.
"""
_MULTIPLICATIONS = frozenset({"mul", "mul_wide"})
"""Operations for which that holds if the other factor is a constant."""
_PRIVATE_SPACES = ("param", "local")
"""State spaces in which other threads cannot read a stored value."""


def check_registers_initialized(routine: InstructionBuilder) -> None:
    """Raises `BuildError` if threads read a register that they have not written."""
    entries = routine.recorder.entries()
    if len(entries) == routine.checked_statement_count:
        return
    doubtful = _find_candidates(entries, {prefix for _, prefix in routine.recorder.register_counts})
    if doubtful and not any(map(_has_opaque_branch, entries)):
        nodes, names = _build_nodes(entries, doubtful)
        found = _UninitializedUseAnalysis(nodes, (1 << len(names)) - 1).find_use()
        if found is not None:
            register, use, definitions = found
            raise _error(names[register.bit_length() - 1], use, definitions)
    routine.checked_statement_count = len(entries)


def _error(name: str, use: Location, definitions: Sequence[Location]) -> BuildError:
    where = " or ".join(str(each) for each in dict.fromkeys(definitions))
    what = f"has no value here in threads that go past {where}, where it is set"
    return BuildError(f"{name} {what}: give it a value on every path, as k.variable(...) does", use)


# ----------------------------------------------------------------------------------------------- instructions


def _find_candidates(entries: Sequence[RecordedStatement], prefixes: set[str]) -> set[str]:
    """Returns the registers that may be read without having been written.

    A branch skips their first mention and continues before their last one, or their first mention is guarded or is not
    as a result. Most kernels have no such registers, and need no further analysis.
    """
    places = _label_positions(entries)
    ends: list[int] = []  # a heap: the targets of earlier branches over this statement
    bounds: dict[str, int] = {}
    found: set[str] = set()
    for number, entry in enumerate(entries):
        while ends and ends[0] <= number:
            heappop(ends)
        statement, match = entry.statement, entry.match
        if match is None or not isinstance(statement, tree.Instruction):
            for each in iterate_instructions((statement,)):
                bounds |= {name: len(entries) for name in _iterate_named_registers(each) if name not in bounds}
            continue
        for name in _iterate_named_registers(statement):
            bound = bounds.get(name)
            if bound is None:
                bounds[name] = ends[0] if ends else len(entries)
                if statement.guard is not None or name not in _result_registers(statement, match):
                    found.add(name)
            elif number >= bound:
                found.add(name)
        target = places.get(_branch_target(statement, match) or "", 0)
        if target > number:
            heappush(ends, target)
    return {name for name in found if name.rstrip("0123456789") in prefixes}  # the other names are special registers


def _has_opaque_branch(entry: RecordedStatement) -> bool:
    """Returns whether raw PTX or a list of labels may continue at another statement than the next one."""
    found = entry.match
    matches = [table().match(each) for each in iterate_instructions((entry.statement,))] if found is None else [found]
    effects = [effect for each in matches if isinstance(each, Match) for effect in each.effects]
    kinds = {effect.kind for effect in effects if isinstance(effect, Control)}
    return bool(kinds - {"call"} if found is None else kinds & {"branch_indexed"})


def _label_positions(entries: Sequence[RecordedStatement]) -> dict[str, int]:
    """Returns the positions of the labels by their names."""
    statements = [each.statement for each in entries]
    return {each.name: number for number, each in enumerate(statements) if isinstance(each, tree.LabelStatement)}


def _branch_target(instruction: tree.Instruction, match: Match) -> str | None:
    """Returns the label that a branch targets, or None."""
    is_branch = any(isinstance(each, Control) and each.kind == "branch" for each in match.effects)
    operand = instruction.operands[0] if is_branch else None
    return operand.text if isinstance(operand, tree.Name) else None


def _iterate_named_registers(instruction: tree.Instruction) -> Iterator[str]:
    if instruction.guard is not None:
        yield instruction.guard.predicate
    for operand in instruction.operands:
        yield from _iterate_operand_registers(operand, within=True)


def _result_registers(instruction: tree.Instruction, match: Match) -> set[str]:
    operands = (match.operand(role, instruction) for role in match.results)
    return {name for operand in operands for name in _iterate_operand_registers(operand, within=True)}


def _iterate_operand_registers(operand: tree.Operand | None, *, within: bool = False) -> Iterator[str]:
    """Yields the registers of an operand; with `within`, also those in vectors."""
    match operand:
        case tree.Name(text=text):
            if text.startswith("%"):
                yield text
        case tree.Address(base=inner) | tree.Not(operand=inner) | tree.Unary(operand=inner):
            yield from _iterate_operand_registers(inner, within=within)
        case tree.Pair(first=first, second=second) if within:
            yield from (
                *_iterate_operand_registers(first, within=True),
                *_iterate_operand_registers(second, within=True),
            )
        case tree.Vector(elements=elements) | tree.Arguments(elements=elements) if within:
            for each in elements:
                yield from _iterate_operand_registers(each, within=True)
        case _:
            pass


def _iterate_access_registers(statement: tree.Instruction, match: Match) -> Iterator[str]:
    """Yields the registers that a memory access reads: addresses, and stored values."""
    accesses = [each for each in match.effects if isinstance(each, Access)]
    if accesses and not any(each.space.startswith(_PRIVATE_SPACES) for each in accesses):
        for role in match.roles:
            if role not in match.results:
                yield from _iterate_operand_registers(match.operand(role, statement))


def _iterate_strict_dependences(statement: tree.Instruction, match: Match) -> Iterator[tuple[str, str]]:
    """Yields the roles (result, operand) of each operand without which the result is undefined."""
    values = [each for each in match.effects if isinstance(each, Value)]
    if len(values) != len(match.effects):
        return
    for each in values:
        if isinstance(each.value, CallExpr) and each.value.function != "unknown":
            for role in _iterate_strict_roles(each.value, statement, match):
                yield each.result, role
    if all(isinstance(each.value, CallExpr) and each.value.function == "unknown" for each in values):
        for meaning in table().semantics_of(match) if values else ():
            if meaning.function in _STRICT_OPERATIONS and len(meaning.results) == 1 and meaning.results[0] is not None:
                for operand in meaning.operands:
                    if isinstance(operand, OperandRole):
                        yield meaning.results[0], operand.name


def _iterate_strict_roles(value: Expression, statement: tree.Instruction, match: Match) -> Iterator[str]:
    """Yields the roles without which the value of an expression is undefined."""
    if isinstance(value, OperandRole):
        yield value.name
    if not isinstance(value, CallExpr):
        return
    if value.function in _MULTIPLICATIONS:
        factors = [each for each in value.arguments if isinstance(each, OperandRole)]
        constant = [isinstance(match.operand(each.name, statement), tree.Integer) for each in factors]
        if sum(constant) == 1 and len(factors) == 2:
            yield factors[constant.index(False)].name
    elif value.function in _STRICT_OPERATIONS:
        for each in value.arguments:
            if not isinstance(each, ConstantExpr):
                yield from _iterate_strict_roles(each, statement, match)


# ------------------------------------------------------------------------------------------------ data flow


@dataclass(frozen=True, slots=True)
class _Node:
    """One statement; sets of registers are bit masks.

    `successors` are the nodes that may come next. `is_predicated` holds for a statement with a guard that is not a
    branch.
    """

    location: Location
    successors: tuple[int, ...]
    is_predicated: bool = False
    guard: int = 0
    writes: int = 0
    access_uses: int = 0
    dependences: tuple[tuple[int, int], ...] = ()


def _build_nodes(entries: Sequence[RecordedStatement], doubtful: set[str]) -> tuple[list[_Node], list[str]]:
    """Returns the nodes of the statements, and the names of the registers by bit: the candidates, and registers that
    depend on them.
    """
    bits = {name: 1 << number for number, name in enumerate(sorted(doubtful))}
    places = _label_positions(entries)

    def mask(names: Iterable[str]) -> int:
        return sum(bits.get(name, 0) for name in set(names))

    made = []
    for number, entry in enumerate(entries):
        statement, match = entry.statement, entry.match
        after = (number + 1,) if number + 1 < len(entries) else ()
        if match is None or not isinstance(statement, tree.Instruction):
            named = (name for each in iterate_instructions((statement,)) for name in _iterate_named_registers(each))
            made.append(_Node(entry.location, after, writes=mask(named)))  # raw PTX may write each
            continue
        is_guarded = statement.guard is not None
        leaves = any(isinstance(each, Control) and each.kind != "call" for each in match.effects)
        following = after if not leaves or is_guarded else ()
        target = _branch_target(statement, match)
        following = following if target is None else (*following, places[target])
        if bits.keys().isdisjoint(_iterate_named_registers(statement)):
            made.append(_Node(entry.location, following))
            continue
        carried = [
            (result, mask(_iterate_operand_registers(match.operand(role, statement))))
            for result, role in _iterate_strict_dependences(statement, match)
        ]
        carried = [each for each in carried if each[1]]
        for name in _result_registers(statement, match) if carried else ():
            bits.setdefault(name, 1 << len(bits))
        results = {
            role: mask(_iterate_operand_registers(match.operand(role, statement), within=True))
            for role in match.results
        }
        made.append(
            _Node(
                entry.location,
                following,
                is_predicated=is_guarded and not leaves,
                guard=mask([] if statement.guard is None else [statement.guard.predicate]),
                writes=mask(_result_registers(statement, match)),
                access_uses=mask(_iterate_access_registers(statement, match)),
                dependences=tuple((results[result], operand) for result, operand in carried),
            )
        )
    return made, list(bits)


class _UninitializedUseAnalysis:
    """Data-flow analysis of registers that no path to an instruction has written and that all paths from it need."""

    def __init__(self, nodes: Sequence[_Node], everything: int) -> None:
        self._nodes, self._all_registers = nodes, everything
        self._predecessors: list[list[int]] = [[] for _ in nodes]
        for number, node in enumerate(nodes):
            for each in node.successors:
                self._predecessors[each].append(number)
        self._unwritten = self._compute_unwritten()
        self._needed = self._compute_needed()

    def find_use(self) -> tuple[int, Location, list[Location]] | None:
        """Returns a register, the line that reads it unwritten, and the lines that write it on other paths, or None."""
        starts: list[tuple[int, int]] = []
        for number in self._iterate_reachable(0, 0):
            node = self._nodes[number]
            if len(node.successors) > 1 or node.is_predicated:
                starts += ((each, self._unwritten[number]) for each in node.successors)
        for start, unwritten in starts:
            wrong = unwritten & self._needed[start]
            while wrong:
                register = wrong & -wrong
                use = next(
                    (each for each in self._iterate_reachable(start, register) if self._is_use(each, register)), None
                )
                definitions = [node.location for node in self._nodes if node.writes & register]
                if use is not None and definitions:  # nothing is reported if every path from it is an endless loop
                    return register, self._nodes[use].location, definitions
                wrong ^= register
        return None

    def _iterate_reachable(self, start: int, register: int) -> Iterator[int]:
        """Yields the nodes that are reachable from `start` before the register is written, or all reachable nodes for
        register 0.
        """
        waiting, seen = deque([start]), {start}
        while waiting:
            number = waiting.popleft()
            yield number
            if not self._nodes[number].writes & register:
                new = [each for each in self._nodes[number].successors if each not in seen]
                seen.update(new)
                waiting.extend(new)

    def _is_use(self, number: int, register: int) -> bool:
        node = self._nodes[number]
        after = self._needed_after(number)
        return bool(
            (node.guard | node.access_uses) & register
            or any(of & register and to & after for to, of in node.dependences)
        )

    def _compute_unwritten(self) -> list[int]:
        """Returns, for each instruction, the registers that no path to it has written."""
        found = [self._all_registers] * len(self._nodes)
        waiting = deque(range(len(self._nodes)))
        while waiting:
            number = waiting.popleft()
            node = self._nodes[number]
            after = found[number] & ~node.writes
            for each in node.successors:
                if found[each] & ~after:
                    found[each] &= after
                    waiting.append(each)
        return found

    def _needed_after(self, number: int) -> int:
        """Returns the registers that every path after an instruction needs; a path that ends needs none."""
        following = self._nodes[number].successors
        if not following:
            return 0
        found = self._all_registers
        for each in following:
            found &= self._needed[each]
        return found

    def _compute_needed(self) -> list[int]:
        """Returns, for each instruction, the registers that every path from it needs before it writes them."""
        self._needed = found = [self._all_registers] * len(self._nodes)
        waiting = deque(reversed(range(len(self._nodes))))
        while waiting:
            number = waiting.popleft()
            node, after = self._nodes[number], self._needed_after(number)
            needed = after & ~node.writes | node.access_uses
            for to, of in node.dependences:
                if to & after:
                    needed |= of
            if node.is_predicated:
                needed &= after
            needed |= node.guard
            if needed != found[number]:
                found[number] = needed
                waiting.extend(self._predecessors[number])
        return found
