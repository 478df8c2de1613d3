"""Finds CTA-scope atomics on words of global memory that all CTAs update, and loops that poll such words in CTA scope.

An address that depends only on parameters and on values that the driver provides is the same for all CTAs. If only the
position of the thread within its CTA decides whether it updates, each CTA updates. A kernel that reads the
position of its CTA is assumed to be launched with several CTAs along each axis that it reads, and so is one that draws
numbers from a word of global memory. Where the position along some axes decides the address, CTAs that differ along the
others share the word. An address that is linear in the position along all axes is of one CTA. Of other addresses and
conditions, neither is known.

Source: PTX ISA, "Conflict and Data-races", "Morally strong operations", "Scope".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.cfg.repeated_steps import may_repeat
from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, is_result_used, read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_FOLLOWED_REGISTERS
from ptxkit.analysis.memory.polled_flags import is_in_read_only_loop
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Effect, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression
from ptxkit.syntax.tree import Address, Name

#: The special registers that distinguish the CTAs of a grid, or give their number.
_GRID_REGISTERS = ("%ctaid", "%nctaid")
#: The special registers by which CTAs choose their own words.
_CTA_REGISTERS = ("%ctaid", "%clusterid")
#: The special registers that the driver sets to the same values for all CTAs.
_GRID_UNIFORM_REGISTERS = ("%envreg",)
#: The special registers that distinguish the threads of one CTA, with the same values in each CTA.
_CTA_POSITION_REGISTERS = ("%tid", "%laneid", "%lanemask", "%warpid", *_GRID_UNIFORM_REGISTERS)
_CONVERSIONS = ("to_generic", "from_generic")
#: The operations that may give one result for several positions of a CTA.
_MERGING_OPERATIONS = ("div", "rem", "and", "shr", "min", "max", "mul_hi", "select", "bfe", "prmt", "funnel")


@dataclass(frozen=True, slots=True)
class CtaScopeAccess:
    """An access of scope `.cta` to a word that every CTA accesses.

    step: the atomic that every CTA executes; or, if `update` is an update by every CTA, the load in a loop that waits
    for it. is_certain: whether it is known that all CTAs access the word, and execute the atomic.
    """

    step: Step
    update: Step | None = None
    is_certain: bool = True


def find_cta_scope_accesses(program: Program) -> Iterator[CtaScopeAccess]:
    """Yields the atomics of scope `.cta` on words that all CTAs may share, and the loops that may wait for such words.

    A loop certainly waits if it does nothing else.
    """
    steps = program.effectful_steps
    uses = [(step, effect) for step in steps for effect in _accesses(step) if _is_cta_scope(effect)]
    if not uses or not may_have_several_ctas(program):
        return
    for step, effect in uses:
        sharing = WordsOfAllCtas(program, axes_of_word(program, step, effect))
        if effect.kind == "update":
            is_shared = sharing.is_updated_by_all_ctas(step, effect)
            if is_shared is not False:
                yield CtaScopeAccess(step, is_certain=is_shared is True)
        elif may_repeat(program, step) and sharing.is_same_word(step, effect) is not False:
            update = sharing.find_update_before(step, effect)
            if update is not None and sharing.is_in_polling_loop(step):
                yield CtaScopeAccess(step, update)
            elif (
                update or sharing.is_same_word(step, effect) is None or sharing.may_be_updated_by_all_ctas(step, effect)
            ):
                yield CtaScopeAccess(step, is_certain=False)


class WordsOfAllCtas:
    """Whether all CTAs of a grid execute an access, and access the same word; None where neither is known.

    axes: the axes of the grid along which the CTAs have the same position.
    """

    def __init__(self, program: Program, axes: str = "") -> None:
        self._program = program
        self._fixed = tuple(f"{register}.{axis}" for register in _CTA_REGISTERS for axis in axes)
        self._words = GridUniformAddresses(self._program, self._fixed)
        self._guards = _ExecutionGuards(self._program)

    def is_updated_by_all_ctas(self, step: Step, effect: Access) -> bool | None:
        is_same = self.is_same_word(step, effect)
        if is_same is False or (self._is_known(step) and self._guards.depend_only_on_thread_position(step)):
            return is_same
        guards = self._guards.sources_of(step) if self._program.contains(step) else ()
        return False if any(self._is_of_one_cta(self._program, leaf) for leaf in guards) else None

    def is_same_word(self, step: Step, effect: Access) -> bool | None:
        function = self._program.function_of(step)
        if self._is_known(step) and self._words.is_same_word_for_all_ctas(step, effect):
            return True
        leaves = function.analysis(Dependence).sources_of(step, step.operand(effect.address))
        is_own = any(self._is_of_one_cta(function, leaf) for leaf in leaves)
        return False if is_own and not self._words.may_merge_positions(step, effect) else None

    def is_in_polling_loop(self, step: Step) -> bool:
        return _ExecutionGuards(self._program.function_of(step)).is_in_polling_loop(step)

    def find_update_before(self, step: Step, effect: Access) -> Step | None:
        """Returns an update, by every CTA, of the word that a load reads; None where none is known."""
        updates = _updates_of_same_word(self._program, self._words, step, effect) if self._is_known(step) else ()
        return next((each for each in updates if self._guards.leads_to(each, step)), None)

    def may_be_updated_by_all_ctas(self, read: Step, effect: Access) -> bool:
        """Returns whether it is possible that all CTAs update the word that a load of the kernel reads."""
        if not self._program.contains(read):
            return False
        return any(
            each.kind == "update"
            and each.space in ("global", "generic")
            and not self._is_other_word((read, effect), (step, each))
            and self.is_updated_by_all_ctas(step, each) is not False
            for step in self._program.effectful_steps
            for each in _accesses(step)
        )

    def _is_other_word(self, read: tuple[Step, Access], update: tuple[Step, Access]) -> bool:
        """Returns whether an update is at another offset from the base that a load has, or in another buffer."""
        if not self._program.contains(update[0]):
            return False
        word, other = self._words.address_of(*read), self._words.address_of(*update)
        if word is not None and other is not None and word[0] is other[0]:
            return word[1] != other[1]
        uses = [(step, step.operand(effect.address)) for step, effect in (read, update)]
        return not self._program.analysis(Dependence).may_share_buffer(*uses)

    def _is_known(self, step: Step) -> bool:
        """Returns whether a step is one of the kernel, in which each instruction has a form in the table."""
        return self._program.contains(step) and self._program.is_fully_matched

    def _is_of_one_cta(self, function: Program, leaf: DependenceSource) -> bool:
        """Returns whether a value that depends on this may differ between CTAs, or is the address of a CTA's memory."""
        if leaf.kind == "special":
            return leaf.name.startswith(_CTA_REGISTERS) and leaf.name not in self._fixed
        variable = function.scope.variable(leaf.name) if leaf.kind == "variable" else None
        return variable is not None and variable.space not in ("global", "const")


def axes_of_word(program: Program, step: Step, effect: Access) -> str:
    """Returns the axes of the grid along which the position of the CTA decides the address of an access.

    The result is empty where these are all axes that the kernel reads, since no two CTAs then have the same position.
    """
    leaves = program.function_of(step).analysis(Dependence).sources_of(step, step.operand(effect.address))
    names = {leaf.name for leaf in leaves if leaf.kind == "special"}
    read = axes_of_grid(program)
    own = "".join(axis for axis in read if not names.isdisjoint(f"{register}.{axis}" for register in _CTA_REGISTERS))
    return "" if own == read else own


def may_have_several_ctas(program: Program) -> bool:
    """Returns whether a kernel is intended for several CTAs.

    It reads the position of its CTA, or draws numbers from global memory by an atomic whose scope is wider than a CTA.
    """
    return reads_cta_position(program) or any(
        each.kind == "update" and each.space in ("global", "generic") and each.scope in ("gpu", "sys")
        for step in program.effectful_steps
        for each in _accesses(step)
        if is_result_used(program, step)
    )


def reads_cta_position(program: Program) -> bool:
    """Returns whether a kernel reads the position of its CTA in the grid, or the number of CTAs.

    Such a kernel is intended for several CTAs.
    """
    steps = (step for code in program.functions for step in code.steps)
    return any(_is_special(step, name, _GRID_REGISTERS) for step in steps for name in read_registers(step))


def axes_of_grid(program: Program) -> str:
    """Returns the axes of the grid along which a kernel, or a function that it calls, reads the position of its CTA."""
    read = {name for code in program.functions for step in code.steps for name in read_registers(step)}
    return "".join(axis for axis in "xyz" if not read.isdisjoint(f"{register}.{axis}" for register in _CTA_REGISTERS))


def _updates_of_same_word(program: Program, words: GridUniformAddresses, read: Step, effect: Access) -> Iterator[Step]:
    """Yields the updates, of any scope, of the word that a load reads."""
    word = words.address_of(read, effect)
    for step in program.steps if word is not None else ():
        if any(each.kind == "update" and words.address_of(step, each) == word for each in _accesses(step)):
            yield step


class GridUniformAddresses:
    """The addresses of accesses to global memory that are the same for all CTAs.

    fixed: special registers that the CTAs have in common, besides those that the driver sets.
    """

    def __init__(self, program: Program, fixed: tuple[str, ...] = ()) -> None:
        self._definitions = program.analysis(ReachingDefinitions)
        self._uniform = (*_GRID_UNIFORM_REGISTERS, *fixed)

    def is_same_word_for_all_ctas(self, step: Step, effect: Access) -> bool:
        """Returns whether all CTAs access the same word with this access."""
        base = _base_register(step, effect)
        return base is not None and self._is_grid_uniform(step, step.scope.register_name(base.text))

    def address_of(self, step: Step, effect: Access) -> tuple[Step, int] | None:
        """Returns the step that assigns the register in an address, and the offset in bytes.

        The result is None where they are not unique.
        """
        base = _base_register(step, effect)
        if base is None or effect.space not in ("global", "generic"):
            return None
        sources = self._definitions.definitions_reaching(step, step.scope.register_name(base.text))
        target = _address_operand(step, effect)
        return (next(iter(sources)), target.offset) if len(sources) == 1 and target is not None else None

    def may_merge_positions(self, step: Step, effect: Access) -> bool:
        """Returns whether an address may be the same for CTAs of different positions, since it is not linear in these.

        Quotients, masks, minima and selected values of the position of a CTA are of several CTAs.
        """
        base = _base_register(step, effect)
        uses = Worklist([(step, step.scope.register_name(base.text))] if base is not None else [])
        for place, register in uses:
            for source in self._definitions.definitions_reaching(place, register):
                inputs = [(source, read) for read in read_registers(source)]
                merges = any(isinstance(each, Value) and _merges(each.value) for each in source.effects)
                if merges and any(_is_special(*use, _CTA_REGISTERS) for use in self._uses_before(inputs)):
                    return True
                uses.add(inputs)
        return False

    def _uses_before(self, uses: Iterable[tuple[Step, str]]) -> Iterator[tuple[Step, str]]:
        """Yields some uses of registers, and all uses on which their values depend."""
        found = Worklist(uses)
        for place, register in found:
            yield place, register
            sources = self._definitions.definitions_reaching(place, register)
            found.add((source, read) for source in sources for read in read_registers(source))

    def _is_grid_uniform(self, step: Step, name: str) -> bool:
        """Returns whether a register has the same value in all CTAs, from parameters, addresses of global variables and
        driver-set registers."""
        uses = Worklist([(step, name)])
        for place, register in uses:
            if _is_special(place, register, self._uniform) or place.scope.parameter(register):
                continue
            variable = place.scope.variable(register)
            if variable is not None and variable.space == "global":
                continue
            sources = self._definitions.definitions_reaching(place, register)
            if len(sources) != 1 or len(uses.seen) > MAX_FOLLOWED_REGISTERS:
                return False
            (source,) = sources
            if not _is_pure_computation(source):
                return False
            uses.add((source, read) for read in read_registers(source))
        return True


def _address_operand(step: Step, effect: Access) -> Address | None:
    target = step.operand(effect.address)
    return target if isinstance(target, Address) else None


def _base_register(step: Step, effect: Access) -> Name | None:
    target = _address_operand(step, effect)
    return target.base if target is not None and isinstance(target.base, Name) else None


def _is_pure_computation(step: Step) -> bool:
    """Returns whether an instruction computes a value only from registers, numbers, parameters and global addresses."""
    return step.instruction.guard is None and all(_is_pure(effect) for effect in step.effects)


def _is_pure(effect: Effect) -> bool:
    if isinstance(effect, Access):
        return effect.kind == "read" and effect.space.startswith("param")
    if not isinstance(effect, Value) or not isinstance(effect.value, CallExpr):
        return False
    spaces = [each.value for each in effect.value.arguments if isinstance(each, ConstantExpr)]
    return effect.value.function not in _CONVERSIONS or "global" in spaces


class _ExecutionGuards:
    """The conditions under which steps are executed."""

    def __init__(self, program: Program) -> None:
        self._cfg, self._definitions = program.analysis(ControlFlowGraph), program.analysis(ReachingDefinitions)
        self._dependence = program.analysis(Dependence)

    def depend_only_on_thread_position(self, step: Step) -> bool:
        """Returns whether only the position of the thread in its CTA decides whether a step is executed."""
        uses = Worklist(self._guards(step))
        for place, name in uses:
            if _is_special(place, name, _CTA_POSITION_REGISTERS):
                continue
            sources = self._definitions.definitions_reaching(place, name)
            if len(sources) != 1 or len(uses.seen) > MAX_FOLLOWED_REGISTERS:
                return False  # a special register, or one that several paths assign
            (source,) = sources
            if any(True for _ in _accesses(source)):
                return False
            uses.add((source, read) for read in read_registers(source))
        return True

    def sources_of(self, step: Step) -> set[DependenceSource]:
        """Returns the sources of the conditions under which a step is executed."""
        registers = self._dependence.source_registers(name for _, name in self._guards(step))
        return {leaf for register in registers for leaf in self._dependence.direct_dependences(register)[1]}

    def is_in_polling_loop(self, read: Step) -> bool:
        """Returns whether a load is in a loop that only reads."""
        unconditional = read.instruction.guard is None and self._cfg.loop_of(read) is not None
        return unconditional and is_in_read_only_loop(self._cfg, read)

    def leads_to(self, update: Step, read: Step) -> bool:
        """Returns whether each CTA executes an update and then reaches a load."""
        return self._cfg.dominates(update, read) and self.depend_only_on_thread_position(update)

    def _guards(self, step: Step) -> Iterator[tuple[Step, str]]:
        """Yields the guards of a step, and of the branches on which it is control dependent."""
        yield from ((step, register) for register in guard_registers(step))
        blocks = Worklist(self._cfg.control_dependences[self._cfg.block_of(step)])
        for block in blocks:
            last = self._cfg.steps_of_block(block)[-1]
            yield from ((last, register) for register in guard_registers(last))
            blocks.add(self._cfg.control_dependences[block])


def _merges(value: Expression) -> bool:
    """Returns whether a value is computed by an operation that may give one result for several operands."""
    return isinstance(value, CallExpr) and (value.function in _MERGING_OPERATIONS or any(map(_merges, value.arguments)))


def _is_special(step: Step, name: str, beginnings: tuple[str, ...]) -> bool:
    """Returns whether a name has a prefix of special registers and is not declared by the program."""
    return name.startswith(beginnings) and not step.scope.shadows_special_register(name)


def _accesses(step: Step) -> Iterator[Access]:
    for effect in step.effects:
        if isinstance(effect, Access):
            yield effect


def _is_cta_scope(effect: Access) -> bool:
    strong = effect.kind == "update" or (effect.kind == "read" and effect.order not in ("weak", "volatile"))
    return strong and (effect.proxy, effect.scope) == ("generic", "cta") and effect.space in ("global", "generic")
