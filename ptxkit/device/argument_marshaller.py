"""Fast conversion of arguments to parameters: a launch should cost the host little more than the driver's call.

For each kernel a Python function without loops is generated, which executes a few steps for each argument. It checks
the arguments that occur in every launch of a series (PyTorch tensors, integers in range, encoded tensor maps), and
caches facts about their types. All other values, types that are new, and values that do not fit are converted by
`arguments`, which raises the errors. For a kernel (data: f32 in .global, aligned to 16; n: u32) the function is

    def run(stream, values):
        if len(values) != 2: refuse(len(values))
        v0, v1, = values
        if not (type(v0) in tensors and v0.dtype in fit0 and v0.get_device() == device
                and not (p0 := v0.data_ptr()) & 15 and v0.is_contiguous()): p0 = careful0(v0)
        p1 = v1 if type(v1) is int and 0 <= v1 <= 4294967295 else careful1(v1)
        if stream is None: stream = tensors[type(v0)](device) if type(v0) in tensors else current(values)
        ...                                                                    # launches with p0 and p1

The slow path checks that the context in which the kernel was bound is current, and so does each launch of a kernel
without pointers. Tensors on the kernel's GPU imply it, and the driver checks it in any case.

Source: CUDA Driver API, "Execution Control: cuLaunchKernel" (kernelParams).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ptxkit.device.arguments import NUMPY_CODES, check_count, convert_argument
from ptxkit.device.arrays import device_of, is_array, is_tensor, view_device_array
from ptxkit.device.device_memory import can_reach
from ptxkit.device.driver_launch import get_current_context
from ptxkit.device.errors import ArgumentError, OtherContextError
from ptxkit.device.signature import Argument, Signature
from ptxkit.device.streams import current_stream, get_torch_stream_function
from ptxkit.device.tensormap import TensorMap

_WORD_ALIGNMENT = 8
_BLOCK_ALIGNMENT = 64
"""The alignment of a block of bytes, which is that of a tensor map."""

PACKED = "PACKED"
"""The placeholder of the packed arguments in the lines that `ArgumentMarshaller.compile_function` is given."""


class ArgumentMarshaller:
    """Checks and packs the arguments of one kernel, for one device and one context.

    `offsets` are the offsets of the parameters in memory, and `size` is their total number of bytes. `write` is
    `Struct.pack_into` for all of them.
    """

    def __init__(self, signature: Signature, device: int, context: int) -> None:
        self._signature = signature
        text, places, end = "=", [], 0
        for argument in signature.arguments:
            size, unit, letter = _parameter_layout(argument)
            place = -(-end // unit) * unit
            text += f"{place - end}x{letter}"
            places.append(place)
            end = place + size
        self.offsets, self.size = tuple(places), end
        self.write = struct.Struct(text).pack_into
        self._known: dict[str, Any] = {"device": device, "refuse": self._refuse, "tensors": {}}
        self._known |= {"current": current_stream, "look": partial(_check_context, context)}
        self._steps = [_ArgumentStep(each, number, self._known) for number, each in enumerate(signature.arguments)]

    def compile_function(
        self, last_lines: Sequence[str], names: Mapping[str, Any]
    ) -> Callable[[int | None, Sequence[object]], Any]:
        """Returns a function of a stream and the arguments, which checks and packs them and then executes `last_lines`.

        These lines may use `PACKED` for the packed arguments, `stream`, which is the current stream if none was given,
        and the given names.
        """
        count = len(self._steps)
        lines = [f"if len(values) != {count}: refuse(len(values))"]
        if count:
            lines.append("".join(f"v{number}, " for number in range(count)) + "= values")
        lines.append(self._stream_line())  # precedes the arrays, since the stream waits for the streams of other arrays
        lines += [step.line for step in self._steps]
        packed = ", ".join(f"p{number}" for number in range(count))
        lines += [line.replace(PACKED, packed) for line in last_lines]
        known = {**self._known, **names}
        text = "\n        ".join([f"def make({', '.join(known)}):\n    def run(stream, values):", *lines])
        made: dict[str, Any] = {}  # names of a closure are looked up fastest
        exec(f"{text}\n    return run", made)
        run: Callable[[int | None, Sequence[object]], Any] = made["make"](
            **known
        )  # names of a closure are looked up fastest
        return run

    def _stream_line(self) -> str:
        """Returns the line that finds the current stream, which is that of the library of the first pointer's
        tensor.
        """
        first = next((number for number, each in enumerate(self._signature.arguments) if each.space is not None), None)
        if first is None:
            return "look(); stream = current(values) if stream is None else stream"
        kind = f"type(v{first})"
        return f"if stream is None: stream = tensors[{kind}](device) if {kind} in tensors else current(values)"

    def _refuse(self, given: int) -> None:
        check_count(self._signature, given)


class _ArgumentStep:
    """The generated line that checks argument `v<number>` and converts it to `p<number>`; `known` receives the names
    that it uses.
    """

    def __init__(self, argument: Argument, number: int, known: dict[str, Any]) -> None:
        self._argument, self._known = argument, known
        value, packed, careful = f"v{number}", f"p{number}", f"careful{number}"
        code = NUMPY_CODES.get(argument.type or "", "")
        if argument.type is None:
            self._last_block: list[tuple[Any, bytes]] = [
                (None, b"")
            ]  # one element, which is reused: the tensor map, or the bytes
            known |= {careful: self._block, f"map{number}": self._last_block}
            self.line = f"{packed} = m[1] if {value} is (m := map{number}[0])[0] else {careful}({value}, stream)"
        elif argument.space is not None:
            self._accepted_dtypes: set[Any] = set()
            known |= {careful: self._pointer, f"fit{number}": self._accepted_dtypes}
            self.line = (
                f"if not (type({value}) in tensors and {value}.dtype in fit{number} and {value}.get_device() == device "
                f"and not ({packed} := {value}.data_ptr()) & {argument.alignment - 1} and {value}.is_contiguous()): "
                f"{packed} = {careful}({value}, stream)"
            )
        elif code[:1] in ("u", "i"):
            limits = np.iinfo(np.dtype(code))
            known[careful] = self._address if code[1] == "8" else self._number
            within = f"type({value}) is int and {limits.min} <= {value} <= {limits.max}"
            self.line = f"{packed} = {value} if {within} else {careful}({value}, stream)"
        else:  # rounded, and infinite if it is too large, as in NumPy
            known[careful] = self._number
            self.line = f"{packed} = {careful}({value}, stream)"

    def _number(self, value: Any, _stream: int) -> Any:
        return convert_argument(self._argument, value).item()

    def _address(self, value: Any, stream: int) -> int:
        """Converts a 64-bit integer or an array to an address. Kernels of compilers declare addresses as integers."""
        if is_array(value):
            self._known["look"]()
        address = int(convert_argument(self._argument, value, partial(view_device_array, stream=stream)))
        here, place = self._known["device"], device_of(value) if is_array(value) else None
        if place is not None and place != here and not can_reach(address):
            raise ArgumentError(
                f"parameter {self._argument.name!r}: the array is on GPU {place}, and the kernel is launched on GPU "
                f"{here}, which cannot reach it"
            )
        return address

    def _pointer(self, value: Any, stream: int) -> int:
        address = self._address(value, stream)
        if is_tensor(value):
            self._known["tensors"][type(value)] = get_torch_stream_function()
            self._accepted_dtypes.add(value.dtype)
        return address

    def _block(self, value: Any, stream: int) -> bytes:
        found = convert_argument(self._argument, value, partial(view_device_array, stream=stream))
        data: bytes = found.data if isinstance(found, TensorMap) else bytes(found)
        if found is value:
            self._last_block[0] = value, data
        return data


def _check_context(context: int) -> None:
    """Raises `OtherContextError` if another context is current than the one in which a kernel was bound."""
    if get_current_context() != context:
        raise OtherContextError("another context is current")


def _parameter_layout(argument: Argument) -> tuple[int, int, str]:
    """Returns the size and alignment in bytes and the format character of `struct` of a parameter."""
    if argument.type is None:
        size = argument.size or 0
        return size, _BLOCK_ALIGNMENT, f"{size}s"
    if argument.space is not None:
        return 8, _WORD_ALIGNMENT, "Q"
    code = NUMPY_CODES.get(argument.type, "u8")
    letter = {"f2": "e", "f4": "f", "f8": "d"}.get(code)
    if letter is None:
        letter = {"1": "b", "2": "h", "4": "i", "8": "q"}[code[1]]
        letter = letter.upper() if code[0] == "u" else letter
    return int(code[1]), _WORD_ALIGNMENT, letter
