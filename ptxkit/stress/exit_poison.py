"""Writes over the shared memory of a CTA when its last thread exits.

An asynchronous copy that is not waited for may read its source until then and later, and multiprocessors keep the
shared memory of a CTA that has exited until its copies are complete, so that nothing would be wrong. Here the last
thread writes over the memory, which no correct kernel needs any more: all its threads have exited, its copies are
complete, and no other CTA of the cluster accesses it. Variables that hold mbarriers are not written.

The threads count their exits in a variable in global memory, one word for each CTA. The count orders the accesses of
the threads before those of the last one, and begins again at zero, for the next launch.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "Special Registers",
"Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import names_in
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Control, MbarrierInit
from ptxkit.stress.disturbing_kernels import FILL_PATTERN
from ptxkit.stress.limits import MAX_COUNTED_CTAS, POISON_STORES
from ptxkit.syntax.tree import Instruction, Statement
from ptxkit.syntax.tree_edit import parse_statements

_WORD_BYTES = 4
_ENDS = ("exit", "return")
_NO_FALL_THROUGH = ("exit", "return", "trap", "branch", "branch_indexed")


@dataclass(frozen=True, slots=True)
class ExitPoison:
    """The code before the exits of the kernels of a module.

    prefix: of its names. header: the address of two words of the plan: the threads of a CTA, or zero if nothing is to
    be written; and the bytes of launch-sized shared memory.
    """

    prefix: str
    header: str

    @property
    def items(self) -> str:
        """The variable in which exits are counted."""
        return f".global .align 4 .b32 {self.prefix}_exits[{MAX_COUNTED_CTAS}];"

    @property
    def registers(self) -> str:
        return (
            f".reg .b32 {self._names('threads', 'bytes', 'cta', 'axis', 'count')};"
            f" .reg .b64 {self._names('counter')}; .reg .pred {self._names('last', 'dynamic')};"
        )

    def replacements(self, program: Program) -> dict[int, tuple[Statement, ...]]:
        """Returns the statements in the place of each exit of a kernel; none if a thread can exit elsewhere."""
        is_kernel = program.function.kind == "entry" and _ends_with_exit(program)
        kept = _mbarrier_variables(program) if is_kernel else None
        if kept is None:
            return {}
        ends = [step for step in program.steps if _ends_thread(step)]
        stores = [self._stores(program, step, kept) for step in ends]
        if not all(stores):
            return {}
        return {
            step.start: (*parse_statements(self._count(step.linear.instruction) + code), step.linear.instruction)
            for step, code in zip(ends, stores, strict=True)
        }

    def _names(self, *names: str) -> str:
        return ", ".join(f"%{self.prefix}_{each}" for each in names)

    def _count(self, exit_: Instruction) -> str:
        """The code after which `last` is true for the last thread of a CTA that exits."""
        threads, size, cta, axis, count, counter, last = (
            f"%{self.prefix}_{each}" for each in ("threads", "bytes", "cta", "axis", "count", "counter", "last")
        )
        guard = exit_.guard
        exits = f", {'!' * guard.negated}{guard.predicate}" if guard is not None else ""
        return (
            f"ld.const.v2.u32 {{{threads}, {size}}}, [{self.header}];"
            f" setp.ne{'.and' * (guard is not None)}.u32 {last}, {threads}, 0{exits};"
            f" mov.u32 {cta}, %ctaid.z; mov.u32 {axis}, %nctaid.y; mul.lo.u32 {cta}, {cta}, {axis};"
            f" mov.u32 {axis}, %ctaid.y; add.u32 {cta}, {cta}, {axis};"
            f" mov.u32 {axis}, %nctaid.x; mul.lo.u32 {cta}, {cta}, {axis};"
            f" mov.u32 {axis}, %ctaid.x; add.u32 {cta}, {cta}, {axis};"
            f" mov.u64 {counter}, {self.prefix}_exits; mad.wide.u32 {counter}, {cta}, {_WORD_BYTES}, {counter};"
            f" sub.u32 {threads}, {threads}, 1; mov.u32 {count}, 0;"
            f" @{last} atom.acq_rel.cta.global.inc.u32 {count}, [{counter}], {threads};"
            f" setp.eq.and.u32 {last}, {count}, {threads}, {last};"
        )

    def _stores(self, program: Program, exit_: Step, kept: Collection[str]) -> str:
        """Stores of the last thread, spread over the shared variables that the kernel names; empty without any.

        kept: the variables that are not written.
        """
        assert program.function.body is not None
        last, dynamic, size, at = (f"%{self.prefix}_{each}" for each in ("last", "dynamic", "bytes", "axis"))
        named = [exit_.scope.variable(each) for each in sorted(names_in(program.function.body) - set(kept))]
        shared = [each for each in named if each is not None and each.space == "shared"]
        aligned = [each for each in shared if each.alignment % _WORD_BYTES == 0]
        fixed = [(each.name, each.fixed_size) for each in aligned if each.fixed_size]
        total = sum(each for _, each in fixed)
        stride = max(-(-total // POISON_STORES // _WORD_BYTES) * _WORD_BYTES, _WORD_BYTES)
        code = "".join(
            f" @{last} st.volatile.shared.u32 [{name}+{offset}], {FILL_PATTERN};"
            for name, length in fixed
            for offset in range(0, length - _WORD_BYTES + 1, stride)
        )
        sized = next((each.name for each in aligned if each.fixed_size is None), None)
        if sized is not None:
            code += f" setp.ne.and.u32 {dynamic}, {size}, 0, {last};"
            code += f" shr.u32 {size}, {size}, {POISON_STORES.bit_length() + 1}; shl.b32 {size}, {size}, 2;"
            code += f" mov.u32 {at}, {sized};" + POISON_STORES * (
                f" @{dynamic} st.volatile.shared.u32 [{at}], {FILL_PATTERN}; add.u32 {at}, {at}, {size};"
            )
        return code


def prevents_poison(program: Program) -> bool:
    """Returns whether a function that is no kernel has an exit, or initializes an mbarrier somewhere."""
    steps = program.steps if program.function.kind != "entry" else ()
    return any(each.kind == "exit" for each in _controls(steps)) or any(map(_mbarriers_of, steps))


def _mbarrier_variables(program: Program) -> set[str] | None:
    """Returns the shared variables that hold mbarriers; None if it is not known which do.

    An mbarrier remains valid until it is invalidated, and nothing else may access it.
    """
    dependence, found = program.analysis(Dependence), set()
    for step in program.steps:
        for barrier in _mbarriers_of(step):
            leaves = dependence.sources_of(step, step.operand(barrier))
            names = {each.name for each in leaves if each.kind == "variable"}
            if not names:
                return None
            found |= names
    return found


def _mbarriers_of(step: Step) -> list[str]:
    """Returns the roles of the addresses at which a step initializes an mbarrier."""
    return [each.barrier for each in step.effects if isinstance(each, MbarrierInit)]


def _controls(steps: tuple[Step, ...]) -> Iterator[Control]:
    return (effect for step in steps for effect in step.effects if isinstance(effect, Control))


def _ends_thread(step: Step) -> bool:
    return any(each.kind in _ENDS for each in _controls((step,)))


def _ends_with_exit(program: Program) -> bool:
    """Returns whether no thread reaches the end of the function, where it would exit without an instruction."""
    last = program.steps[-1]
    return last.instruction.guard is None and any(each.kind in _NO_FALL_THROUGH for each in _controls((last,)))
