"""Arguments of a launch, which are checked against the kernel's parameters and stored in parameter memory."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy

from ptxkit.emulator.core.findings import InvalidLaunchError
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.limits import MAX_BLOCK_EXTENTS, MAX_CLUSTER_CTAS
from ptxkit.emulator.state.tensor_maps import TensorMapArgument
from ptxkit.emulator.state.textures import HANDLE_BYTES, OpaqueObject, Sampler, Surface, Texture
from ptxkit.emulator.threads.launch_geometry import Dim3, LaunchGeometry
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.functions import bits, kind
from ptxkit.limits import MAX_CTA_THREADS, MAX_SHARED_BYTES
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax.launch_extents import launch_extents
from ptxkit.syntax.tree import Function
from ptxkit.tensormap_limits import MAP_BYTES

LaunchShape: TypeAlias = "int | Sequence[int]"


@dataclass(frozen=True, slots=True)
class ArgumentBuffer:
    """An array in the machine's global memory, for the argument with the index `argument`.

    `in_table` states whether it is one of the arrays of a table argument.
    """

    argument: int
    address: int
    array: Any
    in_table: bool = False


@dataclass(frozen=True, slots=True)
class StructArgument:
    """A structure argument passed by value that contains pointers.

    `data` are its bytes. `pointers` has arrays by the offsets of their addresses, and tensor maps by their own offsets.
    Changes of these arrays by a kernel are not returned.
    """

    data: bytes
    pointers: Mapping[int, Any]

    def encode(self, place: Callable[[Any], bytes]) -> bytes:
        """Returns the bytes with addresses and maps inserted. `place` stores an array in memory and returns its
        address.
        """
        made = bytearray(self.data)
        for offset, each in self.pointers.items():
            is_map = isinstance(each, TensorMapArgument)
            address = place(each.array if is_map else each)
            part = each.encode_at(int.from_bytes(address, "little")) if is_map else address
            made[offset : offset + len(part)] = part
        return bytes(made)


def to_dim3(shape: LaunchShape, what: str) -> Dim3:
    """Converts a number of threads or CTAs to (x, y, z)."""
    given = (shape,) if isinstance(shape, int | numpy.integer) else tuple(shape)
    if not 1 <= len(given) <= 3 or not all(isinstance(each, int | numpy.integer) and each > 0 for each in given):
        raise InvalidLaunchError(f"{what} must be one to three positive integers, and is {shape!r}")
    x, y, z = (*(int(each) for each in given), 1, 1)[:3]
    return x, y, z


def make_launch(
    entry: Function, grid: LaunchShape, block: LaunchShape | None, cluster: LaunchShape | None, shared: int
) -> LaunchGeometry:
    """Checks a requested launch against the kernel's directives and returns it. Raises InvalidLaunchError if it is
    invalid.
    """
    required = _directive_extents(entry, "reqntid")
    if block is None:
        if required is None:
            raise InvalidLaunchError(f"{entry.name} has no .reqntid: give block=")
        block = required
    threads = to_dim3(block, "block")
    if required is not None and threads != required:
        raise InvalidLaunchError(f"{entry.name} requires blocks of {required} threads (.reqntid), not {threads}")
    for most, given, axis in zip(MAX_BLOCK_EXTENTS, threads, "xyz", strict=True):
        if given > most:
            raise InvalidLaunchError(f"block has at most {most} threads along {axis}, not {given}")
    count = threads[0] * threads[1] * threads[2]
    limit = _directive_extents(entry, "maxntid")
    most = limit[0] * limit[1] * limit[2] if limit is not None else MAX_CTA_THREADS
    if count > min(most, MAX_CTA_THREADS):
        where = " (.maxntid)" if limit is not None else ""
        raise InvalidLaunchError(
            f"{entry.name} takes at most {min(most, MAX_CTA_THREADS)} threads a CTA{where}, not {count}"
        )
    wanted = _directive_extents(entry, "reqnctapercluster")
    ctas = to_dim3(cluster, "cluster") if cluster is not None else wanted or (1, 1, 1)
    if wanted is not None and ctas != wanted:
        raise InvalidLaunchError(f"{entry.name} requires clusters of {wanted} CTAs (.reqnctapercluster), not {ctas}")
    if ctas[0] * ctas[1] * ctas[2] > MAX_CLUSTER_CTAS:
        raise InvalidLaunchError(f"a cluster has at most {MAX_CLUSTER_CTAS} CTAs, not {ctas[0] * ctas[1] * ctas[2]}")
    whole = to_dim3(grid, "grid")
    if any(a % b for a, b in zip(whole, ctas, strict=True)):
        raise InvalidLaunchError(f"the grid {whole} is not a multiple of the cluster {ctas}")
    if not 0 <= shared <= MAX_SHARED_BYTES:
        raise InvalidLaunchError(f"shared is 0 to {MAX_SHARED_BYTES} bytes, and not {shared}")
    return LaunchGeometry(whole, threads, ctas, shared)


def _directive_extents(entry: Function, name: str) -> Dim3 | None:
    numbers = launch_extents(entry, name)
    return to_dim3(numbers, f".{name}") if numbers is not None else None


def bind_arguments(program: Executable, arguments: Sequence[Any]) -> list[ArgumentBuffer]:
    """Stores arguments in parameter memory and arrays in buffers.

    Raises InvalidLaunchError if an argument does not fit its parameter.
    """
    name, parameters = program.entry.name, program.parameters
    if len(arguments) != len(parameters):
        wanted = ", ".join(f"{symbol.name} (.{declaration.type})" for declaration, symbol in parameters) or "none"
        raise InvalidLaunchError(f"{name} takes {len(parameters)} arguments ({wanted}), and {len(arguments)} are given")
    buffers: list[ArgumentBuffer] = []
    for number, (value, (_, symbol)) in enumerate(zip(arguments, parameters, strict=True)):
        if isinstance(value, numpy.ndarray) and symbol.size == program.address_size // 8 and value.ndim:
            buffers.append(_bind_array(program, number, value, buffers, symbol.name))
            octets = buffers[-1].address.to_bytes(symbol.size, "little")
        elif isinstance(value, TensorMapArgument):
            if symbol.size != MAP_BYTES:
                raise InvalidLaunchError(f"{symbol.name} has {symbol.size} bytes, and a tensor map {MAP_BYTES}")
            buffers.append(_bind_array(program, number, value.array, buffers, symbol.name))
            octets = value.encode_at(buffers[-1].address)
        elif isinstance(value, Texture | Surface | Sampler):
            octets = _bind_texture(program, number, value, buffers, symbol).to_bytes(symbol.size, "little")
        elif isinstance(value, StructArgument):
            octets = _parameter_bytes(value.encode(partial(_place_nested_array, program, symbol.name)), symbol)
        elif isinstance(value, list) and symbol.is_aggregate and all(isinstance(e, TensorMapArgument) for e in value):
            if len(value) * MAP_BYTES > symbol.size:
                raise InvalidLaunchError(
                    f"{symbol.name} has {symbol.size} bytes, and {len(value)} tensor maps {MAP_BYTES} each"
                )
            maps = StructArgument(bytes(symbol.size), {at * MAP_BYTES: each for at, each in enumerate(value)})
            octets = maps.encode(partial(_place_nested_array, program, symbol.name))
        elif isinstance(value, list):
            octets = _bind_table(program, number, value, buffers, symbol.name).to_bytes(symbol.size, "little")
        else:
            octets = _parameter_bytes(value, symbol)
        program.memory.set_initial(symbol.address, octets)
    return buffers


def _bind_array(
    program: Executable, number: int, array: Any, before: Sequence[ArgumentBuffer], name: str
) -> ArgumentBuffer:
    known = next((each for each in before if each.array is array), None)
    if known is not None:
        return ArgumentBuffer(number, known.address, array)
    if array.dtype.hasobject:
        raise InvalidLaunchError(f"{name}: an array of Python objects cannot be in the kernel's memory")
    address = program.memory.allocate("global", array.nbytes, 256, f"argument {name}")
    program.memory.set_initial(address, numpy.ascontiguousarray(array).tobytes())
    return ArgumentBuffer(number, address, array)


def _place_nested_array(program: Executable, name: str, array: Any) -> bytes:
    """Returns the address of an array that a structure points to."""
    return _bind_array(program, 0, array, (), f"{name}'s").address.to_bytes(program.address_size // 8, "little")


def _bind_texture(
    program: Executable, number: int, value: OpaqueObject, buffers: list[ArgumentBuffer], symbol: DeclaredVariable
) -> int:
    """Returns the handle of a texture, surface or sampler, whose array becomes a buffer."""
    if symbol.size != HANDLE_BYTES:
        raise InvalidLaunchError(f"{symbol.name} has {symbol.size} bytes, and a handle {HANDLE_BYTES}")
    value.validate(symbol.name)
    if isinstance(value, Sampler):
        return program.texture_handles.bind(value, 0)
    buffers.append(_bind_array(program, number, value.array, buffers, symbol.name))
    return program.texture_handles.bind(value, buffers[-1].address)


def _bind_table(
    program: Executable, argument: int, values: Sequence[Any], buffers: list[ArgumentBuffer], name: str
) -> int:
    """Returns the address of a table of array addresses, whose arrays become buffers, or of tensor maps."""
    entries = []
    for number, each in enumerate(values):
        array = each.array if isinstance(each, TensorMapArgument) else each
        if not isinstance(array, numpy.ndarray):
            raise InvalidLaunchError(f"{name}: a list holds arrays or tensor maps, not {type(each).__name__}")
        buffer = _bind_array(program, argument, array, buffers, f"{name}[{number}]")
        buffers.append(replace(buffer, in_table=True))
        address = buffer.address
        octets = address.to_bytes(program.address_size // 8, "little")
        entries.append(each.encode_at(address) if isinstance(each, TensorMapArgument) else octets)
    whole = numpy.frombuffer(b"".join(entries), numpy.uint8)
    return _bind_array(program, 0, whole, (), name).address


def _parameter_bytes(value: Any, symbol: DeclaredVariable) -> bytes:
    what = f"{symbol.name} (.{symbol.type}{f'[{symbol.size}]' if symbol.is_aggregate else ''})"
    if isinstance(value, bytes | bytearray | memoryview | numpy.ndarray | numpy.generic):
        octets = bytes(value) if isinstance(value, bytes | bytearray | memoryview) else value.tobytes()
        if len(octets) != symbol.size:
            raise InvalidLaunchError(f"{what} has {symbol.size} bytes, and the argument {len(octets)}")
        return octets
    if symbol.is_aggregate:
        raise InvalidLaunchError(f"{what} wants {symbol.size} bytes: pass bytes or a numpy array, not {value!r}")
    width = bits(symbol.type)
    if kind(symbol.type) == "f" and width in (16, 32, 64) and isinstance(value, int | float):
        return struct.pack({16: "<e", 32: "<f", 64: "<d"}[width], value)
    if isinstance(value, bool | int):
        if not -(1 << (width - 1)) <= value < 1 << width:
            raise InvalidLaunchError(f"{what} cannot hold {value}")
        return (value & ((1 << width) - 1)).to_bytes(symbol.size, "little")
    if isinstance(value, float):
        raise InvalidLaunchError(f"{what} is not a floating-point parameter: pass numpy.float32({value}) or an integer")
    raise InvalidLaunchError(f"{what} takes a number, bytes or an array, not {type(value).__name__}")


def read_back_arrays(program: Executable, buffers: Sequence[ArgumentBuffer]) -> dict[int, Any]:
    """Returns the final arrays by the index of the argument; for a table argument, a list of arrays.

    An array that was passed several times, such as in many entries of a table, is one array in the result.
    """
    found: dict[int, Any] = {}
    copies: dict[int, Any] = {}
    for each in buffers:
        left = copies.get(id(each.array))
        if left is None:
            octets = program.memory.view_bytes(each.address, each.array.nbytes)
            left = copies[id(each.array)] = octets.copy().view(each.array.dtype).reshape(each.array.shape)
        if each.in_table:
            found.setdefault(each.argument, []).append(left)
        else:
            found[each.argument] = left
    return found
