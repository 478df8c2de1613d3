"""Strategies for operands, addresses, launches and whole modules.

Each generates valid text, or text that one change has made invalid. Invalid text is text that ptxkit rejects; a test
compares this with ptxas.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator.core.dtypes import width_of
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.functions import kind
from ptxkit.isa.harness_module import harness_module
from ptxkit.syntax import parse
from ptxkit.syntax.launch_extents import launch_extents
from ptxkit.syntax.tree import Function, Module
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.generators.bit_patterns import edge_values
from ptxkit.testing.generators.step_catalog import Version

OPERAND_TYPES = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64", "pred")
SPACES = ("global", "shared", "const", "local", "param")
_BYTES = {"param": 4}
"""The bytes of the variable of a state space, if they are not 4096."""


@dataclass(frozen=True, slots=True)
class OperandText:
    """A piece of PTX. line: an instruction that contains it."""

    text: str
    line: str
    version: Version
    target: str

    def module(self) -> str:
        """Returns a module with that instruction and declarations of all names in it."""
        return harness_module([self.line], self.version, self.target)


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module. change: the change that makes it invalid, or empty."""

    text: str
    change: str = ""

    def module(self) -> str:
        return self.text


def operands(
    type: str = "u32",  # noqa: A002 (PTX's word)
    target: str = "sm_90a",
    version: Version = (8, 7),
    *,
    valid: bool = True,
) -> st.SearchStrategy[OperandText]:
    """Generates source operands of a type, one of `OPERAND_TYPES`: registers, constants in all bases, expressions,
    names.
    """
    if type not in OPERAND_TYPES:
        raise ValueError(f"an operand's type is one of {', '.join(OPERAND_TYPES)}, not {type!r}")

    def text(operand: str) -> OperandText:
        return OperandText(operand, f"mov.{type} %{type}_0, {operand};", version, target)

    if valid:
        return _operands(type).map(text)
    return st.sampled_from(_invalid_operands(type)).map(text).filter(_is_refused)


def _operands(type: str) -> st.SearchStrategy[str]:  # noqa: A002
    registers = st.integers(0, 9).map(lambda number: f"%{type}_{number}")
    if type == "pred":
        return registers
    bits = width_of(type)
    patterns = st.one_of(st.sampled_from(edge_values(type)), st.integers(0, (1 << bits) - 1))
    if kind(type) == "f":
        letter = {32: "0f", 64: "0d"}[bits]
        return st.one_of(registers, patterns.map(lambda value: f"{letter}{value:0{bits // 4}X}"), st.just("1.5"))
    small = st.integers(0, 99)
    written = st.one_of(
        small.map(str),
        patterns.map(hex),
        small.map(lambda value: f"0{value:o}"),
        small.map(lambda value: f"0b{value:b}"),
        small.map(lambda value: f"-{value}"),
        st.tuples(small, st.sampled_from("+-*&|^"), small).map(lambda parts: "({} {} {})".format(*parts)),
        small.map(lambda value: f"(~{value} & 255)"),
    )
    special = {"u32": ["%tid.x", "%ntid.y", "%ctaid.z", "%laneid", "WARP_SZ"], "u64": ["%clock64", "global_"]}
    return st.one_of(registers, written, *(st.sampled_from(each) for each in [special.get(type)] if each))


def _invalid_operands(type: str) -> list[str]:  # noqa: A002
    """Returns operands that are invalid for a type, except for those that ptxkit accepts."""
    others = [f"%{each}_1" for each in OPERAND_TYPES if each == "pred" or width_of(each) != max(width_of(type), 2)]
    return [*others, "undeclared", "", "[global_]", "%tid", "1.5", "0f3F800000", "{1, 2}", "callee", "3 +", "0x"]


def addresses(
    space: str = "global", size: int = 4, target: str = "sm_90a", version: Version = (8, 7), *, valid: bool = True
) -> st.SearchStrategy[OperandText]:
    """Generates addresses of `size` bytes in a state space, as they are written in brackets: variables, registers, with
    offsets.
    """
    if space not in SPACES:
        raise ValueError(f"a space is one of {', '.join(SPACES)}, not {space!r}")

    def text(address: str) -> OperandText:
        return OperandText(address, f"ld.{space}.b{8 * size} %b{max(8 * size, 16)}_0, [{address}];", version, target)

    variable = "parameter" if space == "param" else f"{space}_"
    if valid:
        last = max(_BYTES.get(space, 4096) // size - 1, 0)
        offsets = st.integers(0, last).map(lambda place: place * size)
        named = offsets.map(lambda offset: f"{variable}+{offset}" if offset else variable)
        if space == "param":
            return named.map(text)
        registers = st.sampled_from(["%b64_1", "%u64_2"])
        far = st.tuples(registers, st.integers(-512, 511)).map(lambda parts: f"{parts[0]}+{parts[1] * size}")
        return st.one_of(named, registers, far).map(text)
    wrong = [
        "%f32_1",
        "%pred_1",
        "%u16_1",
        "undeclared",
        f"{variable}+%u32_1",
        "%b64_1+1.5",
        "",
        f"[{variable}]",
        "%b64_1, 4",
        "{%b64_1, %b64_2}",
        "callee+4",
        "shared_" if space == "global" else "global_",
    ]
    return st.sampled_from(wrong).map(text).filter(_is_refused)


def _is_refused(found: OperandText) -> bool:
    return ptxkit_refusal(found.module()) is not None


# ------------------------------------------------------------------------------------------------ launches


@st.composite
def launches(
    draw: st.DrawFn,
    module: Module | str,
    entry: str = "",
    *,
    valid: bool = True,
    threads: int = 128,
    elements: int = 64,
) -> DeviceLaunch:
    """Generates launches that a kernel allows, or that one change makes impossible.

    entry: its name; by default the first kernel. threads: the largest number in a CTA. elements: the words of each
    array. Arguments: an array for a parameter of 64 bits, a number with the edge values of its type for others.
    """
    parsed = parse(module) if isinstance(module, str) else module
    kernel = next(each for each in parsed.functions() if each.kind == "entry" and entry in ("", each.name))
    block = launch_extents(kernel, "reqntid") or draw(_extents(min(threads, *_max_threads(kernel))))
    cluster = launch_extents(kernel, "reqnctapercluster") or (1,)
    clusters = draw(_extents(4))
    grid = _elementwise_product(clusters, cluster)
    arguments = tuple(draw(_argument(each.type, elements)) for each in kernel.parameters)
    found = DeviceLaunch(kernel.name, grid, tuple(block), arguments, tuple(cluster))
    if valid:
        return found
    changes = [
        replace(found, block=(1025,)),
        replace(found, block=(0,)),
        replace(found, grid=()),
        replace(found, grid=(2, 0)),
        replace(found, grid=(3,), cluster=(2,)),
        replace(found, grid=(17,), cluster=(17,)),
        replace(found, shared=(227 << 10) + 1),
        replace(found, arguments=(*found.arguments, 0)),
    ]
    return draw(st.sampled_from(changes))


def _max_threads(kernel: Function) -> Sequence[int]:
    limit = launch_extents(kernel, "maxntid")
    return [prod(limit)] if limit is not None else [1024]


def _extents(most: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Generates one to three numbers whose product is at most `most`."""
    triples = st.tuples(st.integers(1, most), st.integers(1, 4), st.integers(1, 4))
    fitted = triples.map(lambda each: (max(1, each[0] // (each[1] * each[2])), each[1], each[2]))
    fitting = fitted.filter(lambda each: each[0] * each[1] * each[2] <= most)
    return st.one_of(st.integers(1, most).map(lambda count: (count,)), fitting)


def _elementwise_product(clusters: Sequence[int], cluster: Sequence[int]) -> tuple[int, ...]:
    longer = max(len(clusters), len(cluster))
    padded = [(*each, 1, 1)[:longer] for each in (clusters, cluster)]
    return tuple(one * other for one, other in zip(*padded, strict=True))


def _argument(type: str, elements: int) -> st.SearchStrategy[Any]:  # noqa: A002
    word = type.lstrip(".")
    if width_of(word) == 64 and kind(word) != "f":
        return st.integers(0, 1 << 16).map(lambda seed: np.random.default_rng(seed).integers(0, 1 << 32, elements))
    if kind(word) == "f":
        return st.sampled_from([0.0, 1.0, -1.5, 65504.0])
    top = (1 << (width_of(word) - 1)) - 1
    return st.one_of(st.integers(0, 8), st.sampled_from([top]))


# ------------------------------------------------------------------------------------------------ modules

_DATA = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "b32", "b64", "f32", "f64")


@st.composite
def modules(
    draw: st.DrawFn, target: str = "sm_90a", version: Version = (8, 7), *, valid: bool = True, items: int = 6
) -> ModuleText:
    """Generates whole modules: variables with initial values, functions that are called, kernels with their directives.

    With `valid=False` one change makes a module invalid. They shrink to one kernel that only returns.
    """
    count = draw(st.integers(0, items - 1))
    made = [draw(_item(number)) for number in range(count)]
    head = f".version {version[0]}.{version[1]}\n.target {target}\n.address_size 64\n"
    calls = [number for number, text in enumerate(made) if text.startswith(".func")]
    text = head + "\n".join([*made, _kernel(draw(st.sampled_from(_DIRECTIVES)), calls)]) + "\n"
    if valid:
        return ModuleText(text)
    changes = {
        change: changed
        for change, changed in _invalidating_changes(text).items()
        if ptxkit_refusal(changed) is not None
    }
    change = draw(st.sampled_from(sorted(changes)))
    return ModuleText(changes[change], change)


_DIRECTIVES = ("", ".maxntid 128", ".reqntid 32, 2, 1", ".maxntid 64\n.minnctapersm 2", ".maxnreg 64")


@st.composite
def _item(draw: st.DrawFn, number: int) -> str:
    match draw(st.sampled_from(("variable", "constant", "array", "pointer", "function", "shared"))):
        case "variable":
            return f".global .{draw(st.sampled_from(_DATA))} v{number};"
        case "constant":
            return f".const .u32 v{number} = {draw(st.sampled_from(edge_values('u32')))};"
        case "array":
            word = draw(st.sampled_from([each for each in _DATA if kind(each) != "f"]))
            values = draw(st.lists(st.integers(0, 127), min_size=1, max_size=4))
            length = len(values) + draw(st.integers(0, 3))
            align = draw(st.sampled_from([8, 16, 128]))
            return f".visible .global .align {align} .{word} v{number}[{length}] = {{{', '.join(map(str, values))}}};"
        case "pointer":
            return f".global .u32 v{number};\n.global .u64 p{number} = generic(v{number});"
        case "function":
            body = f"{{ .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, {number}; st.param.b32 [r], %x; ret; }}"
            return f".func (.param .b32 r) f{number} (.param .b32 a)\n{body}"
    return f".shared .align 16 .b8 v{number}[{draw(st.integers(1, 512))}];"


def _kernel(directives: str, calls: Sequence[int]) -> str:
    lines = [f".visible .entry kernel(.param .u64 out)\n{directives}\n{{"]
    if calls:
        lines += [".reg .b32 %x; .reg .b64 %out;", "mov.u32 %x, 1;"]
    for number in calls:
        lines.append("{ .param .b32 given; .param .b32 got; st.param.b32 [given], %x;")
        lines.append(f"call (got), f{number}, (given); ld.param.b32 %x, [got]; }}")
    if calls:
        lines.append("ld.param.u64 %out, [out]; st.global.u32 [%out], %x;")
    return "\n".join([*lines, "ret;", "}"])


def _invalidating_changes(text: str) -> dict[str, str]:
    """Returns changes that make a module invalid, by their description."""
    start, _, body = text.partition("\n{")
    return {
        "no version": text.partition("\n")[2],
        "a later version": text.replace(".version ", ".version 9", 1),
        "an unknown target": text.replace(".target sm_", ".target sm_9", 1),
        "a name twice": f"{text}.global .u32 kernel;\n",
        "a variable twice": f"{text}.global .u32 twice;\n.global .u64 twice;\n",
        "no semicolon": text[::-1].replace(";", "", 1)[::-1],
        "an unknown type": f"{text}.global .u12 wrong;\n",
        "more values than elements": f"{text}.global .u32 wrong[1] = {{1, 2}};\n",
        "no size": f"{text}.global .u32 wrong[];\n",
        "an odd alignment": f"{text}.global .align 3 .u32 wrong;\n",
        "an undeclared function": text.replace("ret;\n}", "call undeclared;\nret;\n}"),
        "an undeclared register": text.replace("ret;\n}", "mov.u32 %nowhere, 1;\nret;\n}"),
        "no end": text.rstrip("}\n"),
        "a directive of nothing": f"{start}\n.maxntid\n{{{body}" if body else text,
    }
