"""Determines whether what an execution found at an instruction happens in every launch, for all data and arguments.

An instruction is certainly executed, with the operand that an execution observed, if only constants, addresses of
variables and the thread's own position decide the operand, all branches that lead to the instruction, and those that
lead to the operand's definitions. These branches are determined by control dependence, so that a preceding loop is not
among them, however long it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, named_registers, read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.isa.effects import Control
from ptxkit.syntax.tree import Operand

#: The special registers that identify the thread and its CTA; the first CTA exists in every launch.
_THREAD_POSITION = ("%tid", "%laneid", "%lanemask", "%ctaid")
#: The special registers that a declared size of the block determines as well.
_BLOCK = ("%ntid", "%nwarpid")
#: The special registers that a declared size of the cluster determines: each of its first two CTAs is analyzed.
_CLUSTER = ("%cluster_ctarank", "%cluster_ctaid", "%cluster_nct")
#: The special registers that the launch determines, other than these.
_LAUNCH = (
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_",
    "%is_explicit_cluster",
    "%gridid",
    "%envreg",
    "%dynamic_smem_size",
    "%total_smem_size",
)
#: Registers with a constant value.
_FIXED_REGISTERS = ("WARP_SZ",)


class InputIndependence:
    """The inputs that decide the operands and the paths of a program; computed only where a violation was found."""

    def __init__(self, program: Program, launch: LaunchConfig) -> None:
        self.program = program
        self._sole_variables: dict[tuple[Step, Operand | None], str | None] = {}
        self._known_sources: dict[tuple[Step, Operand | None], frozenset[DependenceSource]] = {}
        self._carried: dict[str, bool] = {}
        self._fixed_by_cluster = _CLUSTER if launch.cluster_size > 1 else ()
        self._fixed_by_block = (*_THREAD_POSITION, *_FIXED_REGISTERS, *_BLOCK, *self._fixed_by_cluster)
        self._fixed_registers = tuple(name for name in self._fixed_by_block if launch.is_exact or name not in _BLOCK)

    @property
    def cfg(self) -> ControlFlowGraph:
        return self.program.analysis(ControlFlowGraph)

    @property
    def dependence(self) -> Dependence:
        return self.program.analysis(Dependence)

    @cached_property
    def _call_registers(self) -> frozenset[str]:
        """The registers that calls name, some of which receive results."""
        calls = [step for step in self.program.steps if _changes_control(step, "call")]
        return frozenset(name for step in calls for name in named_registers(step))

    def sole_variable(self, step: Step, operand: Operand | None) -> str | None:
        """Returns the only variable that decides an operand and the path to its step in each launch; None otherwise."""
        if (step, operand) not in self._sole_variables:
            self._sole_variables[(step, operand)] = self._find_sole_variable(step, operand)
        return self._sole_variables[(step, operand)]

    def is_input_independent(self, step: Step, operand: Operand | None, *, given_block: bool = False) -> bool:
        """Returns whether neither data nor arguments decide an operand and the path to its step.

        given_block: whether only launches of one block size are considered, even where the kernel declares none.
        """
        if not self.program.is_fully_matched:
            return False  # the instruction may assign any register
        fixed = self._fixed_by_block if given_block else self._fixed_registers
        return all(
            leaf.kind == "variable" or (leaf.kind == "special" and leaf.name.startswith(fixed))
            for leaf in self.dependence_sources(step, operand)
        )

    def has_fixed_value(self, step: Step, operand: Operand | None) -> bool:
        """Returns whether only the position of the thread and of its CTA decide what an operand holds on a path to its
        step, which data and arguments may decide.
        """
        return self.dependence.depends_on_position_only(step, operand, self._fixed_by_cluster)

    def depends_on_arguments(self, step: Step, operand: Operand | None) -> bool:
        """Returns whether arguments of the kernel may decide an operand or the path to its step."""
        return any(leaf.kind == "parameter" for leaf in self.dependence_sources(step, operand))

    def depends_on_data(
        self, step: Step, operand: Operand | None, settled: Callable[[Step], bool] | None = None
    ) -> bool:
        """Returns whether loaded data, a clock or unknown values may decide an operand or the path to its step.

        settled: as for `dependence_sources`.
        """
        return any(map(self._is_of_data, self.dependence_sources(step, operand, settled)))

    def depends_on_loaded_data(self, step: Step) -> bool:
        """Returns whether only loaded data decide a guard and the path to its step, besides arguments and positions."""
        decisive = [leaf for leaf in self.dependence_sources(step, None) if self._is_of_data(leaf)]
        return bool(decisive) and all(leaf.kind == "memory" for leaf in decisive)

    def _is_of_data(self, leaf: DependenceSource) -> bool:
        given = (*self._fixed_by_block, *_LAUNCH)
        return leaf.kind in ("memory", "unknown") or (leaf.kind == "special" and not leaf.name.startswith(given))

    def may_argument_select_threads(self, step: Step, *, of_cta: bool = False) -> bool:
        """Returns whether a condition of a step depends on an argument and on the position of the thread.

        of_cta: only its position in the CTA counts, so that a condition of the number of the CTA does not.
        """
        position = tuple(name for name in _THREAD_POSITION if not (of_cta and name.startswith("%ctaid")))
        for deciding, _ in self.deciding_operands(step, set()):
            registers = self.dependence.source_registers(guard_registers(deciding))
            leaves = [leaf for name in registers for leaf in self.dependence.direct_dependences(name)[1]]
            by_position = any(leaf.kind == "special" and leaf.name.startswith(position) for leaf in leaves)
            if by_position and any(leaf.kind == "parameter" for leaf in leaves):
                return True
        return False

    def depends_on_iterations(self, step: Step, operand: Operand | None) -> bool:
        """Returns whether a register that decides an operand is computed in a loop from its own earlier value."""
        first, _ = self.dependence.operand_dependences(step, operand)
        return any(map(self._is_carried, self.dependence.source_registers(first)))

    def may_input_decide_iterations(self, step: Step, operand: Operand | None, *, given_block: bool = False) -> bool:
        """Returns whether data or arguments may end a loop that computes an operand from its own earlier value.

        given_block: as for `is_input_independent`.
        """
        fixed = self._fixed_by_block if given_block else self._fixed_registers
        return not all(
            leaf.kind == "variable" or (leaf.kind == "special" and leaf.name.startswith(fixed))
            for leaf in self._sources_of_iterations(step, operand)
        )

    def may_data_decide_iterations(self, step: Step, operand: Operand | None) -> bool:
        """Returns whether data may end such a loop."""
        return any(map(self._is_of_data, self._sources_of_iterations(step, operand)))

    def _sources_of_iterations(self, step: Step, operand: Operand | None) -> Iterator[DependenceSource]:
        """Yields what decides the ends of the loops that compute an operand from its own earlier value."""
        first, _ = self.dependence.operand_dependences(step, operand)
        carried = filter(self._is_carried, self.dependence.source_registers(first))
        assigned = {
            each
            for register in carried
            for each in self.program.definitions.get(register, ())
            if register in self.dependence.source_registers(read_registers(each))
        }
        loops = {loop for each in assigned if (loop := self.cfg.loop_of(each)) is not None}
        ends = {self.cfg.steps_of_block(inner)[-1] for loop in loops for inner, _ in self.cfg.loops.exit_edges(loop)}
        registers = self.dependence.source_registers(name for end in ends for name in guard_registers(end))
        return (leaf for name in registers for leaf in self.dependence.direct_dependences(name)[1])

    def _is_carried(self, register: str) -> bool:
        if register not in self._carried:
            inputs, _ = self.dependence.direct_dependences(register)
            self._carried[register] = register in self.dependence.source_registers(inputs) and any(
                map(self.cfg.may_repeat, self.program.definitions.get(register, ()))
            )
        return self._carried[register]

    def is_branch_independent(self, branch: Step) -> bool:
        """Returns whether neither data nor arguments decide where control continues after a branch."""
        return self.is_input_independent(branch, _index_operand(branch))

    def depends_on_block(self, step: Step) -> bool:
        """Returns whether the size of the block may decide that a step is executed."""
        return any(
            leaf.kind == "special" and leaf.name.startswith(_BLOCK) for leaf in self.dependence_sources(step, None)
        )

    def _find_sole_variable(self, step: Step, operand: Operand | None) -> str | None:
        if not self.is_input_independent(step, operand):
            return None
        names = {leaf.name for leaf in self.dependence.sources_of(step, operand) if leaf.kind == "variable"}
        return names.pop() if len(names) == 1 else None

    def dependence_sources(
        self, step: Step, operand: Operand | None, settled: Callable[[Step], bool] | None = None
    ) -> frozenset[DependenceSource]:
        """Returns the sources that decide the value of an operand, and whether its step is executed.

        settled: whether the guard of a step does not count.
        """
        known = self._known_sources.get((step, operand)) if settled is None else None
        if known is not None:
            return known
        found: set[DependenceSource] = set()
        uses = Worklist[tuple[Step, str]](())
        passed: set[int] = set()

        def note(user: Step, read: Iterable[str], leaves: Iterable[DependenceSource]) -> None:
            uses.add((user, register) for register in read)
            found.update(leaves)

        def come_to(place: Step) -> None:
            for deciding, own in self.deciding_operands(place, passed):
                if own is None and settled is not None and settled(deciding):
                    continue
                note(deciding, *self.dependence.operand_dependences(deciding, own))
                note(deciding, guard_registers(deciding), ())

        note(step, *self.dependence.operand_dependences(step, operand))
        come_to(step)
        for user, register in uses:
            if register in self._call_registers:
                found.add(DependenceSource("unknown", register))
            for definition, inputs, leaves in self.dependence.definitions_reaching(self.program, user, register):
                note(definition or user, inputs, leaves)
                if definition is not None:
                    come_to(definition)
            for write in self.dependence.param_variable_writes.get(register, ()):
                come_to(write)
        if settled is None:
            self._known_sources[(step, operand)] = frozenset(found)
        return frozenset(found)

    def last_deciding_steps(self, step: Step, among: Collection[Step]) -> Iterator[Step]:
        """Yields the last of the steps `among` that decide whether a step is executed.

        These are the step itself, by its guard, or earlier branches.
        """
        if step in among:
            yield step
            return
        blocks = Worklist(self.cfg.control_dependences[self.cfg.block_of(step)])
        for block in blocks:
            last = self.cfg.steps_of_block(block)[-1]
            if last in among:
                yield last
            else:
                blocks.add(self.cfg.control_dependences[block])

    def deciding_operands(self, step: Step, passed: set[int]) -> Iterator[tuple[Step, Operand | None]]:
        """Yields (step, operand or None) for each condition that decides whether a step is executed.

        The conditions are the step's guard, the guards of branches, and the index of indexed branches. passed: the
        blocks whose branches are omitted because they were yielded before.
        """
        yield step, None
        blocks = Worklist([self.cfg.block_of(step)], passed)
        for block in blocks:
            for deciding in self.cfg.control_dependences[block]:
                last = self.cfg.steps_of_block(deciding)[-1]
                yield last, _index_operand(last)
            blocks.add(self.cfg.control_dependences[block])


def _index_operand(branch: Step) -> Operand | None:
    """Returns the index of an indexed branch."""
    return branch.instruction.operands[0] if _changes_control(branch, "branch_indexed") else None


def _changes_control(step: Step, kind: str) -> bool:
    effects = step.effects
    return any(isinstance(effect, Control) and effect.kind == kind for effect in effects)
