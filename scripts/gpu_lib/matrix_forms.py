"""For `scripts/device_matrices`: kernels with one matrix multiplication instruction each, and their data.

Every element is a small integer, so that no order of sums and no rounding changes a result: the GPU and the machine
must agree in every bit, and an element in a wrong position is detected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import FORMATS
from ptxkit.emulator.tensor.fragments import pack_elements
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.isa.functions import bits
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.testing.generators.form_variants import matches_of

SECTIONS = ("Multiply-and-Accumulate Instruction: mma", "Warp-level matrix transpose instruction")
GROUPS = ("Asynchronous Multiply-and-Accumulate Instruction: wgmma.mma_async",)
_SECOND = 32768
_METADATA = {16: (0x4, 0x8, 0x9, 0xC, 0xD, 0xE), 32: (0x4, 0xE)}


@dataclass(frozen=True, slots=True)
class MatrixKernel:
    """A kernel of one CTA. inputs: its first argument; results: the number of 32-bit words that it writes to its
    second.
    """

    title: str
    text: str
    threads: int
    inputs: Any
    results: int


def matrix_kernels(version: str, target: str, most: int, seed: int) -> Iterator[MatrixKernel]:
    """Yields a kernel for each variant of the forms, at most `most` for each form."""
    major, minor = map(int, version.split("."))
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    random = Random(seed)
    for name in ("mma", "movmatrix", "wgmma", "wmma"):
        for form in table().forms(name):
            made = 0
            for match in matches_of(form, random):
                if form.tolerated or unmet_gates(list(match.gates), (major, minor), parse_target(target)):
                    continue
                if form.section.startswith(SECTIONS):
                    found = _register_kernel(head, match, seed + made)
                elif form.section.startswith(GROUPS):
                    found = _tile_kernel(head, match, seed + made)
                elif "wmma.mma" in match.canonical:
                    found = _fragment_kernel(head, match, seed + made)
                else:
                    break
                if found is not None:
                    yield found
                    made += 1
                if made == most:
                    break


# ------------------------------------------------------------------------------------------- registers to registers


def _register_kernel(head: str, match: Match, seed: int) -> MatrixKernel | None:
    """Returns a kernel of mma or movmatrix: each operand is loaded from the input, and the result stored to the
    output.
    """
    random = np.random.default_rng(seed)
    lines, words, names = [], [], []
    offset, declared = 0, 0
    stores: list[str] = []
    for operand in match.operands:
        if operand.kind == "immediate":
            names.append("0")
            continue
        count = int(operand.count.value) if operand.count is not None else 1
        kind = str(operand.type.value)
        width = 8 if bits(kind) == 64 else 4
        register = {"f64": "f64", "f32": "f32", "s32": "s32"}.get(kind, "b32")
        own = [f"%x{declared + at}" for at in range(count)]
        declared += count
        lines += [f".reg .{register} {each};" for each in own]
        names.append("{" + ", ".join(own) + "}" if operand.kind == "vector" else own[0])
        if operand.role == "d":
            stores = [f"st.global.b{8 * width} [%out+{32 * width * at}], {each};" for at, each in enumerate(own)]
            size = width
            continue
        for each in own:
            lines.append(f"ld.global.b{8 * width} {each}, [%in{width}+{offset}];")
            offset += 32 * width
            words.append(_registers(match, operand.role, random))
    text = _kernel(head, [*lines, f"{match.canonical} {', '.join(names)};", *stores], size)
    return MatrixKernel(_title(match), text, 32, np.concatenate(words), len(stores) * 8 * size)


def _kernel(head: str, lines: list[str], size: int) -> str:
    return "\n".join(
        [
            head,
            ".visible .entry k(.param .u64 in, .param .u64 out) {",
            ".reg .b64 %in, %in4, %in8, %out, %at; .reg .b32 %lane;",
            "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %lane, %tid.x;",
            "mul.wide.u32 %at, %lane, 4; add.u64 %in4, %in, %at; mul.wide.u32 %at, %lane, 8; add.u64 %in8, %in, %at;",
            f"mul.wide.u32 %at, %lane, {size}; add.u64 %out, %out, %at;",
            *lines,
            "ret;",
            "}",
            "",
        ]
    )


def _registers(match: Match, role: str, random: Any) -> Any:
    """Returns one register of each lane, as bytes."""
    word = element(match, role)
    if role == "e":
        width = bits(element(match, "a"))
        legal = np.array(_METADATA[32 if width == 32 else 16], np.uint32)
        parts = random.choice(legal, (32, 8)) << np.arange(0, 32, 4, dtype=np.uint32)
        return np.bitwise_or.reduce(parts, axis=-1).astype(np.uint32).view(np.uint8)
    if word == "b32":
        return random.integers(0, 256, 128).astype(np.uint8)
    return codes(word, (32, max(1, 32 // bits(word))), random)


def codes(word: str, shape: tuple[int, ...], random: Any) -> Any:
    """Returns small integers, packed, as bytes."""
    width = bits(word)
    if word in FORMATS:
        return (
            np.ascontiguousarray(narrow(FORMATS[word], random.integers(-3, 4, shape).astype(float)))
            .view(np.uint8)
            .ravel()
        )
    if width in (8, 32):
        low = 0 if word.startswith("u") else -100
        return random.integers(low, 100, shape).astype(f"i{width // 8}").view(np.uint8).ravel()
    flat = random.integers(0, 1 << width, (*shape[:-1], shape[-1] * width // 32, 32 // width)).astype(np.uint8)
    return np.ascontiguousarray(pack_elements(flat, width)).view(np.uint8).ravel()


def element(match: Match, role: str) -> str:
    """Returns the type of a matrix's elements, or `b32` for other operands."""
    meaning = table().semantics_of(match)[0]
    names = {"a": "left", "b": "right", "c": "third", "d": "result", "adesc": "left", "bdesc": "right"}
    return str(meaning.named_arguments.get(names.get(role, ""), "b32"))


# --------------------------------------------------------------------------------------------------------- wmma


def _fragment_kernel(head: str, match: Match, seed: int) -> MatrixKernel | None:
    """Returns a kernel of wmma.mma between loads and a store, since the fragments have no specified layout."""
    random = np.random.default_rng(seed)
    chosen, words = match.modifiers, table().semantics_of(match)[0].named_arguments
    al, bl = (str(chosen.get(each) or each_default) for each, each_default in (("al", "row"), ("bl", "col")))
    shape = str(chosen["shape"])
    m, n, k = (int(part) for part in shape[1:].replace("n", " ").replace("k", " ").split())
    types = {"a": words["left"], "b": words["right"], "c": words["third"], "d": words["result"]}
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    lines, names, data, offset = [], {}, [], 0
    for role in "dabc":
        form = match.operands[match.roles[role]]
        kind = str(form.type.value)
        own = [f"%{role}{at}" for at in range(int(form.count.value))]
        lines += [f".reg .{ {'f64': 'f64', 'f32': 'f32', 's32': 's32'}.get(kind, 'b32') } {each};" for each in own]
        names[role] = "{" + ", ".join(own) + "}"
        if role == "d":
            continue
        layout = {"a": al, "b": bl, "c": "row"}[role]
        lines.append(
            f"wmma.load.{role}.sync.aligned.{layout}.{shape}.global.{types[role]} {names[role]}, [%in+{offset}];"
        )
        values = codes(str(types[role]), sizes[role], random)
        data.append(np.concatenate([values, np.zeros(-len(values) % 256, np.uint8)]))
        offset += len(data[-1])
    lines.append(f"{match.canonical} {names['d']}, {names['a']}, {names['b']}, {names['c']};")
    lines.append(f"wmma.store.d.sync.aligned.row.{shape}.global.{types['d']} [%out], {names['d']};")
    text = _kernel(head, lines, 4).replace("add.u64 %out, %out, %at;", "")
    return MatrixKernel(_title(match), text, 32, np.concatenate(data), m * n * bits(str(types["d"])) // 32)


# -------------------------------------------------------------------------------------------------------- wgmma


def _tile_kernel(head: str, match: Match, seed: int) -> MatrixKernel | None:
    """Returns a kernel of wgmma: two tiles of shared memory filled with numbers, each layout in turn."""
    random = np.random.default_rng(seed)
    left, right = element(match, "adesc" if "adesc" in match.roles else "a"), element(match, "bdesc")
    spaces = [_fill_shared(left, random), _fill_shared(right, random)]
    mode, names, lines = seed % 4, [], []
    stores: list[str] = []
    for operand in match.operands:
        role, count = operand.role, 0
        if operand.kind == "vector":
            assert operand.count is not None
            count = int(operand.count.value)
            kind = str(operand.type.value)
            own = [f"%{role}{at}" for at in range(count)]
            lines += [f".reg .{kind} {each};" for each in own]
            names.append("{" + ", ".join(own) + "}")
            if role == "d":
                start = {"f32": "0f40000000", "s32": "2"}.get(kind, "0x40003c00")
                lines += [f"mov.b32 {each}, {start};" for each in own]
                stores = [f"st.global.b32 [%out+{512 * at}], {each};" for at, each in enumerate(own)]
            else:
                lines += [f"ld.global.b32 {each}, [%in4+{512 * at}];" for at, each in enumerate(own)]
        elif role in ("adesc", "bdesc"):
            which = 0 if role == "adesc" else _SECOND
            fields = _descriptor(which, mode)
            lines.append(f".reg .b64 %{role}; add.u64 %{role}, %tile, {fields};")
            names.append(f"%{role}")
        elif role == "meta":
            pattern = 0x4E4E4E4E if bits(left) == 32 else 0xD9C84E9C
            lines.append(f".reg .b32 %meta; mov.u32 %meta, {pattern};")
            names.append("%meta")
        elif role == "scale":
            lines.append(f".reg .pred %scale; setp.eq.u32 %scale, {seed % 2}, 0;")
            names.append("%scale")
        else:
            names.append(
                {"scale_a": "1", "scale_b": "-1"}.get(role, str(seed // 4 % 2 if role.startswith("trans") else 0))
            )
    filling = [
        ".shared .align 1024 .b8 space[65536];",
        ".reg .b32 %to, %four<4>; .reg .b64 %from, %tile; .reg .pred %more;",
        "mov.u32 %to, space; mul.wide.u32 %from, %lane, 16; add.u64 %from, %from, %in; mad.lo.u32 %to, %lane, 16, %to;",
        ".reg .b32 %step; mov.u32 %step, 0;",
        "next: ld.global.v4.u32 {%four0, %four1, %four2, %four3}, [%from];",
        "st.shared.v4.u32 [%to], {%four0, %four1, %four2, %four3};",
        "add.u64 %from, %from, 2048; add.u32 %to, %to, 2048; add.u32 %step, %step, 2048;",
        "setp.lt.u32 %more, %step, 65536; @%more bra next;",
        "fence.proxy.async; bar.sync 0; mov.u32 %to, space; shr.u32 %to, %to, 4; cvt.u64.u32 %tile, %to;",
    ]
    body = [
        *filling,
        *lines,
        "wgmma.fence.sync.aligned;",
        f"{match.canonical} {', '.join(names)};",
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
        *stores,
    ]
    return MatrixKernel(_title(match), _kernel(head, body, 4), 128, np.concatenate(spaces), len(stores) * 128)


def _fill_shared(word: str, random: Any) -> Any:
    """Returns the contents of half of shared memory."""
    width = bits(word)
    shape = (_SECOND * 8 // width,) if width >= 8 else (1, _SECOND * 8 // width)
    return codes(word, shape, random)


def _descriptor(start: int, mode: int) -> int:
    """Returns a descriptor of tiles with all strides different; the contents are arbitrary, since both sides read the
    same.
    """
    leading, stride = {0: (2048, 128), 1: (4096, 1024), 2: (4096, 512), 3: (2048, 256)}[mode]
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62


def _title(match: Match) -> str:
    return match.canonical
