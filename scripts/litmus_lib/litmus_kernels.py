"""The kernels of litmus tests in Dat3M's format, in which each thread is the first of its own warp.

A kernel keeps all locations in one array and writes the final registers into another. Only tests with the generic
proxy, without aliases and on one GPU have one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.fast_dataclasses import dataclass
from ptxkit.memory_model import LitmusTest, LitmusThread
from ptxkit.memory_model.events import GENERIC, BarrierUse, EventKind
from ptxkit.memory_model.register_code import RegisterCode, RegisterStep
from ptxkit.syntax.constants import WARP_SIZE

SCOPES = ("cta", "cluster", "gpu", "sys")
_BITWISE = ("exch", "cas", "and", "or", "xor")


class UnsupportedTestError(Exception):
    """A test that cannot be expressed as such a kernel."""


@dataclass(frozen=True, slots=True)
class LitmusKernel:
    """A kernel `k(m, o)`: the locations, and the output for registers. registers: (thread, name) in their order."""

    text: str
    locations: tuple[str, ...]
    registers: tuple[tuple[str, str], ...]
    ctas: int
    block: int


def litmus_kernel(test: LitmusTest) -> LitmusKernel:
    """Returns the kernel of a test. Raises UnsupportedTestError."""
    codes = [_code(thread) for thread in test.threads]
    events = [step.event for code in codes for step in code.steps if step.kind in ("load", "store", "update")]
    if any(event.proxy != GENERIC or event.address != event.location for event in events):
        raise UnsupportedTestError("other proxies")
    if len({thread.place.gpu for thread in test.threads}) > 1:
        raise UnsupportedTestError("several GPUs")
    locations = tuple(dict.fromkeys((*test.initial, *(event.location for event in events))))
    pairs = list(zip(test.threads, codes, strict=True))
    registers = tuple((thread.name, name) for thread, code in pairs for name in _names(code))
    offsets = {name: 4 * at for at, name in enumerate(locations)}
    lines = [
        ".version 8.6",
        ".target sm_90",
        ".address_size 64",
        ".visible .entry k(.param .u64 m, .param .u64 o)",
        "{",
        " .reg .b32 %t, %c; .reg .pred %p, %q; .reg .b64 %m, %o;",
        " ld.param.u64 %m, [m]; ld.param.u64 %o, [o]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;",
    ]
    for number, thread in enumerate(test.threads):
        lines.append(
            f" setp.eq.u32 %p, %t, {thread.place.rank * WARP_SIZE}; setp.eq.and.u32 %p, %c, {thread.place.cta}, %p; "
            f"@%p bra T{number};"
        )
    lines.append(" ret;")
    for number, (thread, code) in enumerate(pairs):
        lines += _thread_lines(test, thread, number, code, offsets)
        lines += [
            f" st.global.u32 [%o+{4 * at}], {name};"
            for at, (owner, name) in enumerate(registers)
            if owner == thread.name
        ]
        lines.append(" ret;\n }")
    ctas = max(thread.place.cta for thread in test.threads) + 1
    block = WARP_SIZE * (max(thread.place.rank for thread in test.threads) + 1)
    return LitmusKernel("\n".join([*lines, "}"]) + "\n", locations, registers, ctas, block)


def _code(thread: LitmusThread) -> RegisterCode:
    assert isinstance(thread.code, RegisterCode)
    return thread.code


def _names(code: RegisterCode) -> list[str]:
    used = [name for step in code.steps for name in (step.register, *step.operands, step.quorum)]
    return list(dict.fromkeys([*code.initial, *(name for name in used if isinstance(name, str) and name)]))


def _thread_lines(
    test: LitmusTest, thread: LitmusThread, number: int, code: RegisterCode, offsets: dict[str, int]
) -> Iterator[str]:
    yield f"T{number}:\n {{"
    yield from (f" .reg .b32 {name}; mov.u32 {name}, {code.initial.get(name, 0)};" for name in _names(code))
    for at, step in enumerate(code.steps):
        yield f"T{number}_{at}: {_instruction(step, number, offsets, _count_awaited(test, thread, step))}"
    yield f"T{number}_{len(code.steps)}:"


def _count_awaited(test: LitmusTest, thread: LitmusThread, step: RegisterStep) -> int | str | None:
    """Returns for how many threads a barrier waits: without a count, the threads of the CTA that use it."""
    if step.quorum is not None or step.kind != "barrier":
        return step.quorum
    same = [_code(each) for each in test.threads if each.place.cta == thread.place.cta]
    barriers = [[each for each in code.steps if each.kind == "barrier"] for code in same]
    if any(isinstance(each.operands[0], str) for several in barriers for each in several):
        return None  # which barrier a thread uses depends on its values: all threads of the CTA
    return sum(any(each.operands == step.operands for each in several) for several in barriers)


def _instruction(step: RegisterStep, thread: int, offsets: dict[str, int], awaited: int | str | None) -> str:
    event = step.event
    order = "weak" if event.order == "weak" else f"{event.order}.{SCOPES[event.scope]}"
    values = ", ".join(map(str, step.operands))
    place = f"[%m+{offsets.get(event.location, 0)}]"
    match step.kind:
        case "load":
            return f"ld.{order}.global.u32 {step.register}, {place};"
        case "store":
            return f"st.{order}.global.u32 {place}, {values};"
        case "update":
            type_ = "b32" if step.word in _BITWISE else "u32"
            word, negated = ("add", "-") if step.word == "sub" else (step.word, "")
            return f"atom.{order}.global.{word}.{type_} {step.register or '_'}, {place}, {negated}{values};"
        case "fence" if event.kind is EventKind.FENCE:
            return f"fence.{order};"
        case "barrier":
            assert isinstance(event.use, BarrierUse)
            count = f", {awaited * WARP_SIZE}" if isinstance(awaited, int) and awaited else ""
            return f"barrier.{event.use.action} {step.operands[0]}{count};"
        case "branch":
            return f"setp.{step.word[1:]}.u32 %q, {values}; @%q bra T{thread}_{step.target};"
        case "goto":
            return f"bra T{thread}_{step.target};"
        case "compute":
            return f"{step.word}.u32 {step.register}, {values};" if step.word else f"mov.u32 {step.register}, {values};"
        case _:
            raise UnsupportedTestError(event.text)
