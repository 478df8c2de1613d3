"""Shared by the tests of the analyses: kernels of a few lines of PTX, executed by one thread or explored."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.symexec.block_compiler import CompiledProgram, compile_program
from ptxkit.analysis.symexec.executor import LockstepExecutor
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.group_state import GroupState
from ptxkit.analysis.symexec.lane_exchange import LaneExchange
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.scenario import Scenario, launch_config_of
from ptxkit.analysis.values.symbolic_values import LaneValues, SymbolicValueTable, Value
from ptxkit.analysis.values.value_ops import SymbolicOps
from ptxkit.isa.effects import Effect
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Module

REGISTERS = ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<4>;"


def module_of(body: str, *, bounds: str = "", parameters: str = "", before: str = "") -> Module:
    """A module with one kernel `k` of that body. bounds: its directives. before: the text before it."""
    return parse(
        f".version 9.0\n.target sm_90a\n.address_size 64\n{before}\n"
        f".visible .entry k({parameters})\n{bounds}\n{{\n{REGISTERS}\n{body}\nret;\n}}\n"
    )


def program_of(module: Module) -> Program:
    return flatten(module, module.function("k"), calls=True)


def explorer_of(module: Module) -> Explorer:
    """Explores the kernel of a module."""
    explorer = Explorer(program_of(module))
    explorer.run()
    return explorer


def kernel_of(module: Module) -> KernelFacts:
    return KernelFacts(explorer_of(module))


@dataclass(frozen=True, slots=True)
class Walk:
    """The execution of one thread, with the final contents of its registers."""

    state: GroupState

    @property
    def trace(self) -> ThreadTrace:
        return self.state.trace.for_thread(self.state.tids[0])

    def __getitem__(self, register: str) -> Value | None:
        held = self.state.registers.get(register)
        assert not isinstance(held, LaneValues)
        return held

    def events(self, *kinds: type[Effect]) -> list[TraceEvent]:
        """Returns its events, of some classes if any are given."""
        found = [event for event in self.trace.events if isinstance(event, TraceEvent)]
        return [event for event in found if not kinds or isinstance(event.effect, kinds)]

    @property
    def opaque(self) -> list[UnknownCall]:
        return [event for event in self.trace.events if isinstance(event, UnknownCall)]


def walk(module: Module, tid: int = 0, *, sample: int = 512, rank: int = 0, scenario: Scenario | None = None) -> Walk:
    """Executes thread `tid` of the module's kernel."""
    program = program_of(module)
    code = compile_program(program, whole=True)
    taken = scenario or Scenario(launch_config_of(program), sample, rank)
    state = GroupState(code, taken, (tid,), SymbolicValueTable(), LaneExchange(), pointer_parameters(program))
    LockstepExecutor(state).run()
    return Walk(state)


def compute_line(line: str, **registers: Value) -> Value | None:
    """Returns the result of one instruction in `%rd9`, `%r9` or `%p9`, given registers such as `r1=5`."""
    program = program_of(module_of(line))
    state = GroupState(
        CompiledProgram(program, lambda _: None, whole=True),
        Scenario(launch_config_of(program), 0),
        (0,),
        SymbolicValueTable(),
        LaneExchange(),
        frozenset(),
    )
    for name, value in registers.items():
        state.registers.set(f"%{name}", value)
    LockstepExecutor(state).run()
    read = map(state.registers.get, ("%rd9", "%r9", "%h9", "%p9"))
    found = [held for held in read if held is not None]
    if not found:
        return None
    assert not isinstance(found[0], LaneValues)
    return found[0]


def operations(terms: SymbolicValueTable | None = None, rank: int = 0) -> SymbolicOps:
    return SymbolicOps(SymbolicValueTable() if terms is None else terms, SharedWindow(rank))


def opcodes(steps: set[Step] | list[Step] | tuple[Step, ...]) -> set[str]:
    return {step.instruction.opcode for step in steps}
