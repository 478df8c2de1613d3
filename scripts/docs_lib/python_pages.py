"""The reference of the Python interface: what mkdocstrings is to show, and the builder's methods by their use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module

from ptxkit.build import Kernel
from ptxkit.build.instructions import INTERNAL_NAMES

MODULES = {
    "ptxkit": "Parse, lint and format PTX; the names that most users need.",
    "ptxkit.build": "The builder's types: addresses, registers, copies, mbarriers, pipelines, matrices, errors. "
    "The methods of a kernel are on [a separate page](../builder.md).",
    "ptxkit.emulator": "The reference machine: runs PTX on the CPU.",
    "ptxkit.testing": "Assertions, oracles and strategies for tests of what writes or changes PTX.",
    "ptxkit.testing.strategies": "Strategies of Hypothesis: kernels, pipelines of asynchronous copies, arrays.",
    "ptxkit.device": "Compile, link and launch on a GPU.",
}
BUILDER = {
    "A kernel": ("param", "tensor_map", "module", "pragma", "assemble"),
    "Check, compile, launch": ("verify", "explain_target", "emulate", "compile", "load", "load_once", "launch"),
    "Threads and special registers": (
        *("tid", "ntid", "ctaid", "nctaid", "clusterid", "cluster_ctaid", "cluster_ctarank", "cluster_nctarank"),
        *("laneid", "dynamic_smem_size", "thread_rank", "warp", "special"),
    ),
    "Values": ("variable", "register", "constant_register", "uniform"),
    "Numbers": (
        *("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "fma", "clamp", "where"),
        *("pack", "unpack", "pack_convert"),
    ),
    "Lanes of a warp": (
        *("shuffle_xor", "shuffle_up", "shuffle_down", "shuffle_idx", "ballot", "any", "all", "match_any"),
        *("warp_reduce", "warp_scan", "block_reduce"),
    ),
    "Branches and loops": (
        *("if_", "elif_", "else_", "predicated", "thread_is", "elect_one", "loop", "while_", "for_", "for_range"),
        *("unroll", "label", "place", "branch"),
    ),
    "Memory": ("shared", "dynamic_shared", "local", "constant", "pointer"),
    "Copies": ("memcpy_async", "copy_async", "tma_store_arrive", "tma_store_wait"),
    "mbarriers and pipelines": ("mbarrier", "pipeline", "thread_pipeline", "fence_barrier_init"),
    "Barriers and fences": (
        *("cta_sync", "cta_arrive", "cta_sync_count", "cta_sync_and", "cta_sync_or", "warp_sync", "thread_fence"),
        "fence_view_async",
    ),
    "Groups and roles of threads": (*("role", "this_thread", "this_warp", "this_cta", "these_warps", "these_threads"),),
    "Clusters": ("cluster_sync", "cluster_arrive", "cluster_wait", "map_shared_rank", "query_shared_rank"),
    "Matrices": (*("matrix", "accumulator", "rows", "tensor_memory", "tensor_matrix", "mma_tile", "mma_a", "mma_b"),),
    "Functions": ("external",),
    "Debugging": ("printf", "assert_"),
    "Instructions and inline PTX": ("instruction", "emit", "asm"),
}
"""The methods of a kernel by subject."""


def python_pages() -> Iterator[tuple[str, str]]:
    """(path below `reference/`, Markdown) of each module and of the builder."""
    for name, text in MODULES.items():
        yield f"python/{name}.md", "\n".join(_module_lines(name, text))
    yield "builder.md", "\n".join(_builder_lines())


def _module_lines(name: str, text: str) -> Iterator[str]:
    yield from (f"# {name}", "", text, "")
    module = import_module(name)
    shown = [each for each in module.__all__ if _is_documented(module, each)]
    for each in sorted(shown, key=lambda each: _order(module, each)):
        if (name, each) != ("ptxkit.build", "Kernel"):
            yield from _directive(f"{name}.{each}", level=2)


def _order(module: object, name: str) -> tuple[int, str]:
    """Functions, then classes, then the types of scalars."""
    is_class = isinstance(getattr(module, name), type)
    return (2 if is_class and name.islower() else int(is_class)), name.lower()


def _is_documented(module: object, name: str) -> bool:
    """Whether a public name is a class or a function, which have docstrings."""
    return callable(getattr(module, name)) and not name.startswith("_")


def _builder_lines() -> Iterator[str]:
    yield from _HEAD.splitlines()
    owners = {name: owner for owner in reversed(Kernel.__mro__) for name in vars(owner)}
    public = {name for name, owner in owners.items() if not name.startswith("_") and owner.__module__ != "builtins"}
    grouped = [name for names in BUILDER.values() for name in names]
    _check(public, grouped)
    for heading, names in BUILDER.items():
        yield from (f"## {heading}", "")
        for name in names:
            yield from _directive(f"{owners[name].__module__}.{owners[name].__qualname__}.{name}", level=3)


def _check(public: Iterable[str], grouped: list[str]) -> None:
    """Each public method is in one group or internal."""
    known = [*grouped, *(INTERNAL_NAMES & {*public})]
    difference = {*public} ^ {*known}
    assert not difference, f"scripts/docs_lib/python_pages.py: methods without a group, or gone: {sorted(difference)}"
    assert len(known) == len({*known})


def _directive(path: str, level: int) -> Iterator[str]:
    yield from (f"::: {path}", "    options:", f"      heading_level: {level}", "")


_HEAD = """\
# Builder

`ptxkit.build.Kernel` records a kernel: values with types in, PTX out. This page has its methods by what they are for;
the types that they take and return are in [ptxkit.build](python/ptxkit.build.md).

```python
from ptxkit.build import Global, Kernel, f32, u32

k = Kernel("double", threads=128)
data = k.param(Global[f32], "data")
count = k.param(u32, "count")
i = k.ctaid.x * 128 + k.tid.x
with k.if_(i < count):
    data[i].store(data[i].load() * 2.0)
print(k)
```

Every form of the [instruction table](instructions/index.md) is a method too: its opcode with `_` for `.` and `::`,
operands in the order of PTX without results, which are returned. `into=` names registers that receive the results,
`guard=p` makes the instruction conditional, `unless=p` its opposite; `k.emit("cp.async.cg.shared.global", ...)` takes
the opcode in full.

::: ptxkit.build.Kernel
    options:
      heading_level: 2
      members: false

"""
