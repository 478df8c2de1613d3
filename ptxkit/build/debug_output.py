r"""`k.printf` and `k.assert_`: text and checks from the device, for debugging.

    k.printf("thread %d: %f\n", k.tid.x, value)
    k.assert_(index < count, "the index is in the array")

The driver prints the text when the host synchronizes; on the reference machine it is `printed_texts` of the result. An
assertion that fails ends the launch with an error, and a run on the reference machine with an `EmulationError`. Both
are calls of functions of the system, which order nothing.

Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion"; PTX ISA, "Abstracting the ABI: Variadic Functions".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from ptxkit.build.addresses import Address, Generic, Global, Local
from ptxkit.build.calls import External
from ptxkit.build.errors import BuildTypeError, BuildValueError, find_caller
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.memory_declarations import reserve_name
from ptxkit.build.registers import Number, Register, check_predicate, load_number
from ptxkit.kernel_model.scalar_types import FloatScalar, SignedScalar, b8, f64, pred, s32, s64, u32, u64
from ptxkit.syntax import tree

PRINT_BUFFER = "printf_arguments"
"""The name of the local array that holds the arguments of a call."""

_CONVERSION = re.compile(r"%(?:%|[-+ #0]*(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t)?([diouxXeEfFgGaAcsp]))")
_WIDE_LENGTHS = ("l", "ll", "j", "z", "t")


class SystemFunction(External[Any]):
    """A function that the driver provides. It neither waits for copies nor orders memory."""


def printf(k: InstructionBuilder, text: str, *values: Register[Any] | Address[Any] | Number | str) -> None:
    r"""Prints a text of `printf` of C in each thread: `k.printf("%d: %f\n", lane, value)`.

    `%d`, `%u`, `%x` and `%c` take integers of up to 32 bits, `%lld`, `%llu` and `%llx` those of 64; `%f`, `%e` and `%g`
    take floating-point values, which become f64; `%p` takes an address, and `%s` a Python string. Emits stores of the
    values to a local array and a call of `vprintf`. Raises `BuildValueError` if the values do not match the text, and
    `BuildTypeError` for a value of another type than its conversion.
    """
    wanted = _parse_conversions(text)
    if len(wanted) != len(values):
        raise BuildValueError(f"the text has {len(wanted)} conversions, and there are {len(values)} values: {text!r}")
    prepared = [_prepare(k, each, value) for each, value in zip(wanted, values, strict=True)]
    size, offsets = 0, []
    for register in prepared:
        size = -(-size // register.type.size()) * register.type.size()
        offsets.append(size)
        size += register.type.size()
    for register, offset in zip(prepared, offsets, strict=True):
        Local(k, register.type, _reserve_buffer(k, size), u64.size(), offset).store(register)
    buffer = Local(k, b8, PRINT_BUFFER, u64.size()).to_generic() if prepared else _null_address(k)
    SystemFunction("vprintf", params=(Generic[b8], Generic[b8]), results=s32)(k, _text_address(k, text), buffer)


def assert_(k: InstructionBuilder, predicate: Register[pred], text: str | None = None) -> None:
    """Ends the launch with an error in a thread where the predicate does not hold.

    The error states `text`, or the source line of the call, with the file and the line. Emits a branch around a call of
    `__assertfail`.
    """
    caller = find_caller()
    what = text or caller.text.strip() or "assertion"
    holds = k.label("holds")
    k.branch(holds, when=check_predicate(predicate))
    line = load_number(k, caller.line, u32)
    parts = [_text_address(k, each) for each in (what, PurePath(caller.file).name, k.name)]
    form = Generic[b8]
    fail = SystemFunction("__assertfail", params=(form, form, u32, form, u64))
    fail(k, parts[0], parts[1], line, parts[2], 1)
    k.place(holds)


def _parse_conversions(text: str) -> list[tuple[str, str]]:
    """Returns the length and the letter of each conversion; `*` is an integer."""
    if not isinstance(text, str):
        raise BuildTypeError(f"the text of printf is a Python string, not {text!r}")
    found, end = [], 0
    for match in _CONVERSION.finditer(text):
        if "%" in text[end : match.start()]:
            break
        end = match.end()
        found += [("", "d") for each in match.groups()[:2] if each == "*"]
        if match[4] is not None:
            found.append((match[3] or "", match[4]))
    if (wrong := text.find("%", end)) >= 0:
        raise BuildValueError(f"{text[wrong : wrong + 6]!r} begins no conversion of printf; `%%` prints a percent sign")
    return found


def _prepare(
    k: InstructionBuilder, wanted: tuple[str, str], value: Register[Any] | Address[Any] | Number | str
) -> Register[Any]:
    """Returns a value in a register of the type that its conversion reads: f64, 32 or 64 bits."""
    length, letter = wanted
    written = f"%{length}{letter}"
    if letter == "s":
        if not isinstance(value, str):
            raise BuildTypeError(f"`%s` takes a Python string, not {value!r}")
        return _text_address(k, value).to_register()
    if letter == "p":
        return _pointer(value, written)
    if letter in "eEfFgGaA":
        return _as_double(k, value, written)
    wide = length in _WIDE_LENGTHS
    if isinstance(value, int) and not isinstance(value, bool):
        return load_number(k, value, (s64 if wide else s32) if value < 0 else (u64 if wide else u32))
    if not isinstance(value, Register) or issubclass(value.type, FloatScalar) or value.type is pred:
        raise BuildTypeError(f"`{written}` takes an integer, not {value!r}; `%f` takes floating-point values")
    if (value.type.bits == u64.bits) is not wide:
        other = letter if wide else f"ll{letter}"
        raise BuildTypeError(
            f"`{written}` takes an integer of {64 if wide else 32} bits, not {value!r}: write `%{other}`"
        )
    if value.type.bits < u32.bits:
        return value.convert(s32 if issubclass(value.type, SignedScalar) else u32)
    return value


def _as_double(k: InstructionBuilder, value: object, written: str) -> Register[f64]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return load_number(k, float(value), f64)
    if not isinstance(value, Register) or not issubclass(value.type, FloatScalar) or "x2" in value.type.word:
        raise BuildTypeError(f"`{written}` takes a floating-point value, not {value!r}; `%d` and `%lld` take integers")
    return value if value.type is f64 else value.convert(f64)


def _pointer(value: object, written: str) -> Register[Any]:
    if isinstance(value, Address):
        register = value.to_register()
        return register if register.type is u64 else register.convert(u64)
    if isinstance(value, Register) and value.type.bits == u64.bits:
        return value
    raise BuildTypeError(f"`{written}` takes an address, not {value!r}")


def _reserve_buffer(k: InstructionBuilder, size: int) -> str:
    """Declares the array for arguments, or makes it as large as a call needs, and returns its name."""
    variables = k.declarations.variables
    places = [at for at, each in enumerate(variables) if each.declarators[0].name == PRINT_BUFFER]
    room = max([size, *(_array_size(variables[at]) for at in places)])
    declarator = tree.Declarator(PRINT_BUFFER, dimensions=(room,))
    made = tree.Declaration("local", b8.word, (declarator,), alignment=u64.size())
    if places:
        variables[places[0]] = made
    else:
        reserve_name(k, PRINT_BUFFER, "a local array")
        variables.append(made)
    return PRINT_BUFFER


def _array_size(declaration: tree.Declaration) -> int:
    (size,) = declaration.declarators[0].dimensions
    assert isinstance(size, int)
    return size


def _null_address(k: InstructionBuilder) -> Generic[b8]:
    return Generic(k, b8, load_number(k, 0, u64), 1)


def _text_address(k: InstructionBuilder, text: str) -> Generic[b8]:
    """Returns the generic address of a text in global memory, which ends with a zero byte. Equal texts are one."""
    octets = (*text.encode(), 0)
    initializer = tree.Vector(tuple(tree.Integer(each, str(each)) for each in octets))
    known: Sequence[tree.Declaration] = k.declarations.constants
    names = [each.declarators[0].name for each in known if each.declarators[0].initialiser == initializer]
    if not names:
        names = [reserve_name(k, f"{k.declarations.module_prefix}text_{len(known)}", "a text")]
        declarator = tree.Declarator(names[0], dimensions=(len(octets),), initialiser=initializer)
        k.declarations.constants.append(tree.Declaration("global", b8.word, (declarator,), alignment=1))
    return Global(k, b8, names[0], 1).to_generic()
