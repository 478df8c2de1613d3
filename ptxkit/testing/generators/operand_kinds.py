"""Every kind of operand, spelled with the names that `ptxkit.isa.harness_module` declares.

Registers of each class, by themselves, with an offset and as parts of vectors; constants of each notation; vectors of
each length and class, including invalid ones; addresses; names of data and of code; and operands that only some
instructions accept. Each text is the name of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.isa.functions import bits
from ptxkit.isa.operand_spellings import DECLARABLE

_VECTOR_LENGTHS = (1, 2, 4, 8)

_VECTOR_BITS = 128
"""The width of the widest vector that can be declared; vectors of eight elements may be wider."""

_SPECIAL = (
    *("%tid", "%tid.x", "%ctaid.w", "%laneid", "%clock", "%clock64", "%globaltimer", "%globaltimer_lo", "%gridid"),
    *("%pm0", "%pm0_64", "%envreg3", "%lanemask_lt", "%is_explicit_cluster", "%cluster_ctaid.y", "%dynamic_smem_size"),
)
_INTEGERS = (
    *("0", "1", "-1", "3", "16", "255", "0x10000", "0x80000000", "4294967295", "4294967296", "-2147483649"),
    *("0x7fffffffffffffff", "0xffffffffffffffff", "-9223372036854775808", "7U", "0b101", "017", "WARP_SZ", "-WARP_SZ"),
    *("(3)", "1+2", "(8)*-2", "~0", "!5", "1 ? 2 : 3", "5 > 4", "(.s64)7", "(.u64)-1"),
)
_FLOATS = (
    *("1.0", "-1.5", "0.0", "1e3", "1.0+2.0", "1.5 > 1.0", "0f3F800000", "0f80000000", "0f7F800000", "0f7FC00000"),
    *("0fFFC00000", "-0f3F800000", "0d3FF0000000000000", "0d7FF0000000000000", "0d7FF8000000000000", "1e400"),
)
_DATA = ("global_", "const_", "shared_", "local_", "parameter", "incoming", "returned", "outgoing")
_OPAQUE = ("texture_", "sampler_", "surface_")
_CODE = ("callee", "target", "targets_", "kernel", "undeclared")
_ODD = (
    *(
        "_",
        "!%pred_9",
        "!%b32_9",
        "!%tid.x",
        "!%is_explicit_cluster",
        "!callee",
        "-%b32_9",
        "-%s32_9",
        "-%f32_9",
        "-%f64_9",
        "-%pred_9",
        "-global_",
    ),
    *("%b32_9.b0", "%b32_9.h1", "%b32_9.b10", "%u32_9.h10", "%f32_9.b3", "%v2b32_1.b0", "%b64_9.x"),
    *("%b32_9|%pred_9", "%pred_9|%pred_8", "%f32_9|%pred_9", "%b32_9|_", "_|%pred_9", "%pred_9|_", "%b32_9|%b32_8"),
    *("generic(global_)", "generic(shared_)", "generic(callee)", "generic(global_)+4", "generic(%b64_9)"),
    *("global_[4]", "shared_[%b32_9]", "const_[%b32_9+4]", "callee[0]", "%b64_9[1]", "(%b32_9)", "()", "(1, 2)"),
)


def operand_kinds(*, inside: bool = False) -> Iterator[str]:
    """Yields all kinds. inside: the kinds of elements in braces or after a comma, which contain no braces and
    brackets.
    """
    yield from _scalars()
    if not inside:
        yield from _vectors()
        yield from _addresses()


def address_bases() -> Iterator[str]:
    """Yields the addresses in brackets before a comma."""
    yield from (f"%{each}_9" for each in DECLARABLE)
    yield from ("%v2b32_1", "%v2b64_1.x", "%tid", "%laneid", "%clock64", "0", "16", "-8", "1.5", "_", "%b64_9+8")
    yield from (*_DATA, *_OPAQUE, *_CODE, "global_+4", "texture_+4")


def vector_operand(count: int, kind: str) -> str:
    """Returns `count` registers of a class in braces."""
    return "{" + ", ".join(f"%{kind}_{index + 10}" for index in range(count)) + "}"


def _scalars() -> Iterator[str]:
    for kind in DECLARABLE:
        yield from (f"%{kind}_9", f"%{kind}_9+4")
    for count in (2, 4):
        yield from (f"%v{count}{kind}_1.y" for kind in _vector_registers(count))
    yield from _SPECIAL
    yield from ("%tid+4", "%tid.x+4", "%clock64+4", "%is_explicit_cluster+4")
    yield from (*_INTEGERS, *_FLOATS, *_DATA, *_OPAQUE, *_CODE)
    yield from (f"{name}+4" for name in (*_DATA, *_OPAQUE, *_CODE[:3]))
    yield from _ODD


def _vector_registers(count: int) -> Iterator[str]:
    """Yields the classes of vector registers with `count` elements."""
    return (kind for kind in DECLARABLE if kind != "pred" and bits(kind) * count <= _VECTOR_BITS)


def _vectors() -> Iterator[str]:
    for count in _VECTOR_LENGTHS:
        yield from (vector_operand(count, kind) for kind in DECLARABLE)
        if count in (2, 4):
            yield from (f"%v{count}{kind}_1" for kind in _vector_registers(count))
        for word in (
            "3",
            "1.5",
            "0f3F800000",
            "0f7FC00000",
            "_",
            "%laneid",
            "%tid",
            "%clock64",
            "%v2b32_1.x",
            "%b32_9.b0",
        ):
            yield "{" + ", ".join([word] * count) + "}"
    yield from ("%v8b32_1", "%v8b16_1", "%v8b8_1", "%v8f32_1", "%v8b64_1", "{}")
    yield from _mixed_vectors()


def _mixed_vectors() -> Iterator[str]:
    """Yields vectors in which one element has another kind than those before and after it."""
    strangers = (
        "%laneid",
        "%clock64",
        "%tid.x",
        "3",
        "1.5",
        "0f3F800000",
        "_",
        "global_",
        "callee",
        "%v2b32_1",
        "!%pred_9",
    )
    registers = ("%f32_9", "%pred_9", "%b16_9", "%b64_9", "%u32_9", "%f16x2_9", "%v2b32_1.x", "%b32_9.h1")
    for count in _VECTOR_LENGTHS[1:]:
        others = ["%b32_10", "%b32_11", "%b32_12", "%b32_13", "%b32_14", "%b32_15", "%b32_16"][: count - 1]
        for word in (*strangers, *registers):
            yield "{" + ", ".join([word, *others]) + "}"
            yield "{" + ", ".join([*others, word]) + "}"
    yield from ("{%f32_9, %s32_9}", "{%s32_9, 1.5}", "{%f32_9, 3}", "{%f64_9, 3}", "{%u16_9, %s16_9}", "{%b16_9, 3}")


def _addresses() -> Iterator[str]:
    yield from (f"[%{kind}_9]" for kind in DECLARABLE)
    yield from (f"[%b64_9{offset}]" for offset in ("+8", "+-16", "-16", "+1", "+0x7fffffff", "+0xffffffffff", "+8+8"))
    yield from (f"[%b32_9{offset}]" for offset in ("+8", "+-16"))
    yield from (f"[{name}]" for name in (*_DATA, *_OPAQUE, *_CODE))
    yield from (f"[{name}+8]" for name in (*_DATA, *_OPAQUE, "callee", "target"))
    yield from (f"[{name}+-16]" for name in ("global_", "shared_", "parameter"))
    yield from (
        "[%tid]",
        "[%tid.x]",
        "[%laneid]",
        "[%clock64]",
        "[%v2b32_1]",
        "[%v2b64_1.x]",
        "[%f32_9+8]",
        "[%pred_9+8]",
    )
    yield from (
        "[0]",
        "[16]",
        "[-16]",
        "[16+8]",
        "[0xffffffffff]",
        "[1.5]",
        "[0f3F800000]",
        "[_]",
        "[WARP_SZ]",
        "[!%pred_9]",
    )
    yield from ("[global_[4]]", "[generic(global_)]", "[%b64_9, {%b32_9}]", "[%b64_9, {%b32_9, %b32_8}]", "[%b64_9, 3]")
    yield from ("[%b64_9, %b64_8]", "[texture_, {%f32_9}]", "[texture_, {%s32_9, %s32_8}]", "[texture_, %f32_9]")
    yield from ("[global_, {%s32_9}]", "[texture_, sampler_, {%f32_9}]", "[surface_, {%s32_9}]", "[surface_, %s32_9]")
