"""Arguments of a launch: checked against the kernel's parameters, and put where the kernel finds them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy

from ptxkit.emulate.faults import LaunchError
from ptxkit.emulate.machine import Launch, Three
from ptxkit.emulate.program import Program
from ptxkit.emulate.scopes import Symbol
from ptxkit.emulate.tensor_maps import BYTES, TensorMap
from ptxkit.emulate.textures import HANDLE_BYTES, Opaque, Sampler, Surface, Texture
from ptxkit.isa.functions import bits, kind
from ptxkit.records import dataclass, replace
from ptxkit.syntax.extents import extents
from ptxkit.syntax.tree import Function

Shape: TypeAlias = "int | Sequence[int]"

_MOST_THREADS = 1024
_MOST_AXES = (1024, 1024, 64)
_MOST_SHARED = 227 << 10
_MOST_CLUSTER = 16


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array in the machine's global memory. argument: which; in_table: one of several that it is a table of."""

    argument: int
    address: int
    array: Any
    in_table: bool = False


@dataclass(frozen=True, slots=True)
class Structure:
    """An argument passed by value that points to memory. octets: its bytes; pointers: arrays, by where their addresses
    stand in it, and tensor maps, by where they begin. What a kernel writes there is not given back.
    """

    octets: bytes
    pointers: Mapping[int, Any]

    def at(self, place: Callable[[Any], bytes]) -> bytes:
        """The bytes with the addresses and maps in them. place: puts an array into memory, and gives its address."""
        made = bytearray(self.octets)
        for offset, each in self.pointers.items():
            is_map = isinstance(each, TensorMap)
            address = place(each.array if is_map else each)
            part = each.at(int.from_bytes(address, "little")) if is_map else address
            made[offset : offset + len(part)] = part
        return bytes(made)


def three(shape: Shape, what: str) -> Three:
    """A number of threads or CTAs as (x, y, z)."""
    given = (shape,) if isinstance(shape, int | numpy.integer) else tuple(shape)
    if not 1 <= len(given) <= 3 or not all(isinstance(each, int | numpy.integer) and each > 0 for each in given):
        raise LaunchError(f"{what} must be one to three positive integers, and is {shape!r}")
    x, y, z = (*(int(each) for each in given), 1, 1)[:3]
    return x, y, z


def launch_of(entry: Function, grid: Shape, block: Shape | None, cluster: Shape | None, shared: int) -> Launch:
    """The launch that was asked for, held against what the kernel says of itself; LaunchError where it cannot be."""
    required = _numbers(entry, "reqntid")
    if block is None:
        if required is None:
            raise LaunchError(f"{entry.name} has no .reqntid: give block=")
        block = required
    threads = three(block, "block")
    if required is not None and threads != required:
        raise LaunchError(f"{entry.name} requires blocks of {required} threads (.reqntid), not {threads}")
    for most, given, axis in zip(_MOST_AXES, threads, "xyz", strict=True):
        if given > most:
            raise LaunchError(f"block has at most {most} threads along {axis}, not {given}")
    count = threads[0] * threads[1] * threads[2]
    limit = _numbers(entry, "maxntid")
    most = limit[0] * limit[1] * limit[2] if limit is not None else _MOST_THREADS
    if count > min(most, _MOST_THREADS):
        where = " (.maxntid)" if limit is not None else ""
        raise LaunchError(f"{entry.name} takes at most {min(most, _MOST_THREADS)} threads a CTA{where}, not {count}")
    wanted = _numbers(entry, "reqnctapercluster")
    ctas = three(cluster, "cluster") if cluster is not None else wanted or (1, 1, 1)
    if wanted is not None and ctas != wanted:
        raise LaunchError(f"{entry.name} requires clusters of {wanted} CTAs (.reqnctapercluster), not {ctas}")
    if ctas[0] * ctas[1] * ctas[2] > _MOST_CLUSTER:
        raise LaunchError(f"a cluster has at most {_MOST_CLUSTER} CTAs, not {ctas[0] * ctas[1] * ctas[2]}")
    whole = three(grid, "grid")
    if any(a % b for a, b in zip(whole, ctas, strict=True)):
        raise LaunchError(f"the grid {whole} is no multiple of the cluster {ctas}")
    if not 0 <= shared <= _MOST_SHARED:
        raise LaunchError(f"shared is 0 to {_MOST_SHARED} bytes, and not {shared}")
    return Launch(whole, threads, ctas, shared)


def _numbers(entry: Function, name: str) -> Three | None:
    numbers = extents(entry, name)
    return three(numbers, f".{name}") if numbers is not None else None


def pass_arguments(program: Program, arguments: Sequence[Any]) -> list[Buffer]:
    """Put arguments into parameter memory, and arrays into buffers; LaunchError where one does not fit."""
    name, parameters = program.entry.name, program.parameters
    if len(arguments) != len(parameters):
        wanted = ", ".join(f"{symbol.name} (.{declaration.type})" for declaration, symbol in parameters) or "none"
        raise LaunchError(f"{name} takes {len(parameters)} arguments ({wanted}), and {len(arguments)} are given")
    buffers: list[Buffer] = []
    for number, (value, (_, symbol)) in enumerate(zip(arguments, parameters, strict=True)):
        if isinstance(value, numpy.ndarray) and symbol.size == program.address_size // 8 and value.ndim:
            buffers.append(_buffer(program, number, value, buffers, symbol.name))
            octets = buffers[-1].address.to_bytes(symbol.size, "little")
        elif isinstance(value, TensorMap):
            if symbol.size != BYTES:
                raise LaunchError(f"{symbol.name} has {symbol.size} bytes, and a tensor map {BYTES}")
            buffers.append(_buffer(program, number, value.array, buffers, symbol.name))
            octets = value.at(buffers[-1].address)
        elif isinstance(value, Texture | Surface | Sampler):
            octets = _handle(program, number, value, buffers, symbol).to_bytes(symbol.size, "little")
        elif isinstance(value, Structure):
            octets = _octets(value.at(partial(_placed, program, symbol.name)), symbol)
        elif isinstance(value, list) and symbol.size > symbol.element and all(isinstance(e, TensorMap) for e in value):
            if len(value) * BYTES > symbol.size:
                raise LaunchError(f"{symbol.name} has {symbol.size} bytes, and {len(value)} tensor maps {BYTES} each")
            maps = Structure(bytes(symbol.size), {at * BYTES: each for at, each in enumerate(value)})
            octets = maps.at(partial(_placed, program, symbol.name))
        elif isinstance(value, list):
            octets = _table(program, number, value, buffers, symbol.name).to_bytes(symbol.size, "little")
        else:
            octets = _octets(value, symbol)
        program.memory.preset(symbol.address, octets)
    return buffers


def _buffer(program: Program, number: int, array: Any, before: Sequence[Buffer], name: str) -> Buffer:
    known = next((each for each in before if each.array is array), None)
    if known is not None:
        return Buffer(number, known.address, array)
    if array.dtype.hasobject:
        raise LaunchError(f"{name}: an array of Python objects cannot be in the kernel's memory")
    address = program.memory.allocate("global", array.nbytes, 256, f"argument {name}")
    program.memory.preset(address, numpy.ascontiguousarray(array).tobytes())
    return Buffer(number, address, array)


def _placed(program: Program, name: str, array: Any) -> bytes:
    """The address of an array of which a structure tells."""
    return _buffer(program, 0, array, (), f"{name}'s").address.to_bytes(program.address_size // 8, "little")


def _handle(program: Program, number: int, value: Opaque, buffers: list[Buffer], symbol: Symbol) -> int:
    """The handle of a texture, surface or sampler, whose array becomes a buffer."""
    if symbol.size != HANDLE_BYTES:
        raise LaunchError(f"{symbol.name} has {symbol.size} bytes, and a handle {HANDLE_BYTES}")
    value.checked(symbol.name)
    if isinstance(value, Sampler):
        return program.objects.bind(value, 0)
    buffers.append(_buffer(program, number, value.array, buffers, symbol.name))
    return program.objects.bind(value, buffers[-1].address)


def _table(program: Program, argument: int, values: Sequence[Any], buffers: list[Buffer], name: str) -> int:
    """The address of a table in memory: of the addresses of arrays, which become buffers, or of tensor maps."""
    entries = []
    for number, each in enumerate(values):
        array = each.array if isinstance(each, TensorMap) else each
        if not isinstance(array, numpy.ndarray):
            raise LaunchError(f"{name}: a list holds arrays or tensor maps, not {type(each).__name__}")
        buffer = _buffer(program, argument, array, buffers, f"{name}[{number}]")
        buffers.append(replace(buffer, in_table=True))
        address = buffer.address
        octets = address.to_bytes(program.address_size // 8, "little")
        entries.append(each.at(address) if isinstance(each, TensorMap) else octets)
    whole = numpy.frombuffer(b"".join(entries), numpy.uint8)
    return _buffer(program, 0, whole, (), name).address


def _octets(value: Any, symbol: Symbol) -> bytes:
    """A parameter's bytes."""
    what = f"{symbol.name} (.{symbol.type}{f'[{symbol.size}]' if symbol.size > symbol.element else ''})"
    if isinstance(value, bytes | bytearray | memoryview | numpy.ndarray | numpy.generic):
        octets = bytes(value) if isinstance(value, bytes | bytearray | memoryview) else value.tobytes()
        if len(octets) != symbol.size:
            raise LaunchError(f"{what} has {symbol.size} bytes, and the argument {len(octets)}")
        return octets
    if symbol.size > symbol.element:
        raise LaunchError(f"{what} wants {symbol.size} bytes: pass bytes or a numpy array, not {value!r}")
    width = bits(symbol.type)
    if kind(symbol.type) == "f" and width in (16, 32, 64) and isinstance(value, int | float):
        return struct.pack({16: "<e", 32: "<f", 64: "<d"}[width], value)
    if isinstance(value, bool | int):
        if not -(1 << (width - 1)) <= value < 1 << width:
            raise LaunchError(f"{what} cannot hold {value}")
        return (value & ((1 << width) - 1)).to_bytes(symbol.size, "little")
    if isinstance(value, float):
        raise LaunchError(f"{what} is no floating-point parameter: pass numpy.float32({value}) or an integer")
    raise LaunchError(f"{what} takes a number, bytes or an array, not {type(value).__name__}")


def read_back(program: Program, buffers: Sequence[Buffer]) -> dict[int, Any]:
    """The arrays as the kernel left them, by the number of the argument; of a table a list of them."""
    found: dict[int, Any] = {}
    for each in buffers:
        octets = program.memory.octets(each.address, each.array.nbytes)
        left = octets.copy().view(each.array.dtype).reshape(each.array.shape)
        if each.in_table:
            found.setdefault(each.argument, []).append(left)
        else:
            found[each.argument] = left
    return found
