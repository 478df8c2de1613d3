"""Inserts delays before the sites of a module, whose lengths the host chooses for each launch.

The delays preserve the meaning of the module:

* The inserted instructions write registers that the module does not have, read those, special registers and a new
  variable that nothing else accesses, and have no effect but time: `nanosleep` orders nothing.
* They have no branch, so the threads that execute a statement are those that executed it before, and a warp that is
  converged at a site remains so. The guard of the sleep is equal in all lanes of a warp. For the same reason no part of
  a warp is delayed: it would have to diverge, and aligned instructions require that it does not.
* A new shared variable of four bytes moves the others. Their places are not specified beyond their alignment. There is
  none in modules that may need all shared memory: with launch-sized memory, or nearly the most that can be declared.
* PTX guarantees no speed of any thread, so a program whose result depends on a delay is wrong.
* A copy of the async proxy may follow prefetches into the L2 cache of a new variable, which nothing reads. The
  copy engine executes the operations of a multiprocessor one after the other, so the copy reads its source later.
* The last thread of a CTA may write over its shared memory before it exits (`exit_poison`).

A delay is a hash of the plan's words, the site, the warp and the CTA, and so the same in all lanes of a warp. The plan
is a variable in constant memory with eight words for the module (seed, factor of the warp, factor of the CTA, bytes of
each prefetch; threads of a CTA that exit, bytes of launch-sized memory, two unused) and four for each site (mask of the
nanoseconds, salt, shift of the clock, mask of the selection). A factor of zero makes the delay the same for all warps
or CTAs. The clock is shifted and added, so that the iterations of a loop differ; a shift of 32 excludes it. A warp is
delayed at a site if its hash and the mask of the selection have no common bit. The variable holds zeros, with which no
thread sleeps, until the host writes a plan.

Source: PTX ISA, "Miscellaneous Instructions: nanosleep", "Special Registers", "cp.async.bulk.prefetch".
"""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access
from ptxkit.isa.targets import parse_target
from ptxkit.refusal import RefusedError
from ptxkit.stress.delay_sites import DelaySite, find_sites, functions_with_code, site_steps
from ptxkit.stress.exit_poison import ExitPoison, prevents_poison
from ptxkit.stress.limits import MAX_MOVED_SHARED_BYTES, MAX_SITES, PREFETCHED_BYTES, PREFETCHES
from ptxkit.syntax import print_module
from ptxkit.syntax.tree import Guard, Module, Statement
from ptxkit.syntax.tree_edit import TreeEdit, apply_edits, parse_items, parse_statements

WORDS_PER_ENTRY = 4
"""The words of an entry of the plan: one for each site."""

HEADER_ENTRIES = 2
"""The entries of the plan for the module, before those of the sites."""

_WORD_BYTES, _MOVED_BYTES = 4, 4
_OLDEST_TARGET, _OLDEST_VERSION = 70, (6, 3)
"""The first architecture and PTX version with `nanosleep`."""

_PREFETCH_TARGET, _PREFETCH_VERSION = 90, (8, 0)
"""The first architecture and PTX version with `cp.async.bulk.prefetch`."""


_COPY_ENGINE = ("bulk", "mbarrier")
"""How the completion of the copies is signaled that the copy engine of a multiprocessor executes."""


class NoDelaysError(RefusedError):
    """A module into which no delays can be inserted."""


@dataclass(frozen=True, slots=True)
class DelayedModule:
    """A module with delays. sites: in the original module. plan: the name of the variable that holds the plan."""

    text: str
    sites: tuple[DelaySite, ...]
    plan: str


def insert_delays(module: Module, *, poisons: bool = True) -> DelayedModule:
    """Returns a parsed module with a delay before each site. Raises NoDelaysError.

    poisons: whether to insert the code that may write over shared memory at the exits, too.
    """
    sites = find_sites(module)
    _check_possible(module, len(sites))
    assert module.source is not None
    prefix = "ptxkit_stress"
    while prefix in module.source.text:
        prefix += "_"
    plan = f"{prefix}_plan"
    size = WORDS_PER_ENTRY * (len(sites) + HEADER_ENTRIES)
    programs = [flatten(module, each) for each in functions_with_code(module)]
    space = f"{prefix}_space" if all(map(_has_shared_space, programs)) else ""
    poison = ExitPoison(prefix, f"{plan}+{WORDS_PER_ENTRY * _WORD_BYTES}")
    has_poison = poisons and not any(map(prevents_poison, programs))
    has_prefetch = _has_prefetch(module)
    items = parse_items(
        f".visible .const .align 16 .u32 {plan}[{size}];"
        + (f" .shared .align 4 .b8 {space}[{_MOVED_BYTES}];" if space else "")
        + (f" .global .align 128 .b8 {prefix}_fetched[{max(PREFETCHED_BYTES)}];" if has_prefetch else "")
        + (f" {poison.items}" if has_poison else "")
    )
    made, number, source = module, 0, module.source.text
    for program in programs:
        replaced = poison.replacements(program) if has_poison else {}
        declarations = parse_statements(poison.registers) if replaced else ()
        for step in site_steps(program):
            prefetch = _prefetch(prefix, step.instruction.guard) if has_prefetch and _is_bulk_copy(step) else ()
            replaced[step.start] = (*_delay(prefix, plan, number), *prefetch, step.linear.instruction)
            number += 1
        if replaced:
            edit = TreeEdit(replaced, (*_beginning(prefix, plan, space, source), *declarations), items)
            made = apply_edits(made, program.function, [edit])
    return DelayedModule(print_module(made), tuple(sites), plan)


def _has_prefetch(module: Module) -> bool:
    target = parse_target(module.targets[0])
    return target is not None and target.number >= _PREFETCH_TARGET and (module.version or (0, 0)) >= _PREFETCH_VERSION


def _is_bulk_copy(step: Step) -> bool:
    """Returns whether the copy engine executes the step."""
    accesses = [each for each in step.effects if isinstance(each, Access) and each.proxy == "async"]
    return any(each.completion in _COPY_ENGINE for each in accesses)


def _has_shared_space(program: Program) -> bool:
    """Returns whether one more shared variable fits, whatever the size of launch-sized memory is."""
    shared = [each for each in program.variables if each.space == "shared"]
    sizes = [each.fixed_size for each in shared]
    return None not in sizes and sum(filter(None, sizes)) < MAX_MOVED_SHARED_BYTES


def _check_possible(module: Module, count: int) -> None:
    target = parse_target(module.targets[0]) if module.targets else None
    if target is None or target.number < _OLDEST_TARGET or (module.version or (0, 0)) < _OLDEST_VERSION:
        raise NoDelaysError(
            "delays need nanosleep, which the module's .version or .target does not have",
            "compile for sm_70 and PTX 6.3, or newer",
        )
    if not count:
        raise NoDelaysError("the module has no access and no synchronization to delay", "choose another file")
    if count > MAX_SITES:
        raise NoDelaysError(
            f"the module has {count} sites of delays, more than {MAX_SITES}", "write only the kernel to a file"
        )


def _beginning(prefix: str, plan: str, space: str, text: str) -> tuple[Statement, ...]:
    """The declarations of a function, and the part of the hash that is the same at all of its sites."""
    a, b, base = f"%{prefix}_a", f"%{prefix}_b", f"%{prefix}_base"
    loaded = ", ".join(f"%{prefix}_{each}" for each in ("mask", "salt", "shift", "choice"))
    prefetched = f"%{prefix}_prefetched"
    return parse_statements(
        f".reg .b32 {a}, {b}, {base}, {prefetched}, {loaded}; .reg .pred %{prefix}_chosen, %{prefix}_fetches;"
        f" ld.const.v4.u32 {{{loaded}}}, [{plan}]; mov.u32 {prefetched}, %{prefix}_choice;"
        f" {_flat_number('tid', text, a, b)} shr.u32 {a}, {a}, 5;"
        f" mad.lo.u32 {base}, {a}, %{prefix}_salt, %{prefix}_mask;"
        f" {_flat_number('ctaid', text, a, b)} mad.lo.u32 {base}, {a}, %{prefix}_shift, {base};"
        + (f" mov.u32 {a}, {space}; add.u32 {base}, {base}, {a};" if space else "")  # unused, it would be removed
    )


def _flat_number(register: str, text: str, result: str, other: str) -> str:
    """The number of a thread in its CTA, or of a CTA in its grid, of the dimensions that the module reads.

    A module that reads only `.x` is for one dimension, and the analysis relies on that.
    """
    code = f"mov.u32 {result}, 0;"
    for axis, below in (("z", "y"), ("y", "x")):
        if f"%{register}.{axis}" in text:
            code += f" mov.u32 {other}, %{register}.{axis}; add.u32 {result}, {result}, {other};"
            code += f" mov.u32 {other}, %n{register}.{below}; mul.lo.u32 {result}, {result}, {other};"
    return f"{code} mov.u32 {other}, %{register}.x; add.u32 {result}, {result}, {other};"


def _delay(prefix: str, plan: str, number: int) -> tuple[Statement, ...]:
    """The delay before a site.

    The code is short, because a warp that is not delayed needs time for it, too, in which a copy may become complete.
    """
    a, b, base, mask, salt, shift, choice, chosen = (
        f"%{prefix}_{each}" for each in ("a", "b", "base", "mask", "salt", "shift", "choice", "chosen")
    )
    entry = f"{plan}+{(number + HEADER_ENTRIES) * WORDS_PER_ENTRY * _WORD_BYTES}"
    return parse_statements(
        f"ld.const.v4.u32 {{{mask}, {salt}, {shift}, {choice}}}, [{entry}];"
        f" mov.u32 {a}, %clock; shr.u32 {a}, {a}, {shift}; add.u32 {a}, {a}, {base}; add.u32 {a}, {a}, {salt};"
        f" mul.lo.u32 {a}, {a}, 0x9E3779B1; shr.u32 {b}, {a}, 15; xor.b32 {a}, {a}, {b};"
        f" and.b32 {b}, {a}, {choice}; setp.eq.u32 {chosen}, {b}, 0;"
        f" shr.u32 {a}, {a}, 8; and.b32 {a}, {a}, {mask}; @{chosen} nanosleep.u32 {a};"
    )


def _prefetch(prefix: str, guard: Guard | None) -> tuple[Statement, ...]:
    """The prefetches before a copy with this guard, after its delay, in the warps that are delayed."""
    chosen, fetches, size = f"%{prefix}_chosen", f"%{prefix}_fetches", f"%{prefix}_prefetched"
    copies = f", {'!' * guard.negated}{guard.predicate}" if guard is not None else ""
    return parse_statements(
        f"setp.ne{'.and' * (guard is not None)}.u32 {fetches}, {size}, 0{copies};"
        f" and.pred {fetches}, {fetches}, {chosen};"
        + PREFETCHES
        * f" @{fetches} cp.async.bulk.prefetch.L2.global [{prefix}_fetched], {size};"
    )
