"""Several inputs, one cubin: names that one of them declares `.extern` are found in the others.

    program = link([kernel, Path("helpers.ptx"), Path("libmath.a")], "sm_90a")
    program["scale"][grid, block](data, count)

Each input is first made a relocatable cubin of its own, which tells what it defines and needs. So an error is one
input's, two definitions of a name are told apart before nvJitLink meets them (it ends the process over some), and
LTO-IR keeps what only PTX calls (linked at once with PTX, it is dropped as unused). LTO-IR alone is compiled as one
program.

Source: nvJitLink documentation, "Supported Link Options"; PTX ISA, "Linking Directives".
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptxkit.build import verify_assembled
from ptxkit.device import assembler, elf, launch_sized, store
from ptxkit.device.compiler import Cubin, Prepared, complaints, open_questions, prepare
from ptxkit.device.errors import CompileError, DeviceError, LinkError
from ptxkit.device.inputs import Input, Linkable, input_of
from ptxkit.device.libraries import nvjitlink
from ptxkit.device.nvjitlink import Piece, RefusedError, linked
from ptxkit.device.programs import Program
from ptxkit.device.prototypes import check_prototypes
from ptxkit.device.targets import check_target
from ptxkit.records import dataclass, replace

_UNDEFINED = re.compile(r"Undefined reference to '([^']+)'")
_NO_LTO = "ERROR_LTO_NOT_ENABLED"


def link(
    inputs: Iterable[Linkable],
    target: str = "sm_90a",
    *,
    verify: bool = True,
    options: Sequence[str] = (),
    cache: bool = True,
) -> Program:
    """The kernels of several inputs, linked for one target; needs no GPU.

    inputs: kernels and functions of the builder, parsed modules, PTX text, paths, bytes, code of `cuda.core`: PTX,
    relocatable cubins (`nvcc -rdc=true -cubin`), LTO-IR, fat binaries, objects and static libraries. verify: all that
    is PTX. options: nvJitLink's. Errors: `LinkError` with the input and the name that is missing or is defined twice,
    `CompileError`, `VerificationError`, `OSError` for a path that cannot be read, `DeviceError` for what else cannot be
    linked.
    """
    check_target(target)
    if not isinstance(inputs, Iterable) or isinstance(inputs, str | bytes):
        raise DeviceError(f"what is linked is given as a list, link([kernel, ...]), not as one {type(inputs).__name__}")
    given = [input_of(value, number) for number, value in enumerate(inputs, 1)]
    if not given:
        raise DeviceError("there is nothing to link")
    texts = _read(given)
    check_prototypes([(each.name, text.assembled.module) for each, text in texts])
    entry = _entry(given, texts, target, options, verify)
    found = store.find(entry) if cache else None
    if found is None:
        found = _made(given, texts, target, [f"-arch={target}", *options], verify)
        if cache:
            store.keep(entry, found)
    known = {signature.name: signature for _, text in texts for signature in text.kernels}
    kernels = tuple(known.get(each.name, each) for each in elf.image(found.code).kernels)
    return Program(Cubin(found.code, target, kernels, "", found.log, found.undecided, found.compiler))


def _read(given: Sequence[Input]) -> list[tuple[Input, Prepared]]:
    """What is PTX; launch-sized shared memory is aligned alike in all of it."""
    first = [(each, prepare(each.source)) for each in given if each.source is not None]
    least = max((launch_sized.alignment(text.assembled.module) for _, text in first), default=0)
    texts = [(each, prepare(each.source, least)) for each, _ in first if each.source is not None]
    for each, text in texts:
        if assembler.sets_registers(text.assembled.module):
            warnings.warn(
                f"{each.name} sets its registers (setmaxnreg), which code that is linked cannot: the instruction is "
                "ignored, and values may be spilled",
                stacklevel=3,
            )
    return texts


def _entry(
    given: Sequence[Input], texts: Sequence[tuple[Input, Prepared]], target: str, options: Sequence[str], verify: bool
) -> store.Entry:
    digest = hashlib.sha256()
    known = {id(each): text.text.encode() for each, text in texts}
    for each in given:
        data = each.piece.data if each.piece is not None else known[id(each)]
        digest.update(f"{each.name} {len(data)}\n".encode() + data)
    return store.Entry(digest.hexdigest(), target, ("link", *options), verify, tuple(nvjitlink().version()))


def _made(
    given: Sequence[Input],
    texts: Sequence[tuple[Input, Prepared]],
    target: str,
    options: list[str],
    verify: bool,
) -> store.Found:
    questions: list[str] = []
    if verify:
        for _, text in texts:
            questions += open_questions(verify_assembled(text.assembled, text.name))
    known = {id(each): text for each, text in texts}
    code, log = _together(given, known, target, options)
    again = launch_sized.repaired(code, [text.assembled.module for _, text in texts])
    if again is not None:
        for (each, text), module in zip(texts, again, strict=True):
            known[id(each)] = replace(text, text=str(module))
        code, log = _together(given, known, target, options)
        launch_sized.check(code, again)
    major, minor = nvjitlink().version()
    return store.Found(code, log, tuple(questions) if verify else None, f"nvJitLink {major}.{minor}")


def _together(
    given: Sequence[Input], known: Mapping[int, Prepared], target: str, options: list[str]
) -> tuple[bytes, str]:
    """The cubin and what nvJitLink remarks. known: what is PTX, by the identity of the input."""
    parts: list[_Part] = []
    later: list[Piece] = []
    for each in given:
        piece = each.piece
        if piece is None:
            parts.append(_compiled(each, known[id(each)], target, options))
        elif piece.kind in ("LTOIR", "LIBRARY"):
            later.append(piece)
        else:
            parts.append(_relocated(piece, options))
    libraries = [piece for piece in later if piece.kind == "LIBRARY"]
    intermediate = [piece for piece in later if piece.kind == "LTOIR"]
    if intermediate and not parts:
        return _joined([], [*intermediate, *libraries], [*options, "-lto"])
    if intermediate:
        parts.append(_intermediate(intermediate, options))
    _check_doubles(parts)
    return _joined(parts, [*(part.piece for part in parts), *libraries], options)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is joined, and what it says of itself as a relocatable cubin. is_intermediate: whether it was LTO-IR.

    Only LTO-IR is joined as that cubin: release 13.0 puts launch-sized memory that functions name at 0 there.
    """

    piece: Piece
    image: elf.Image
    is_intermediate: bool = False


def _compiled(given: Input, text: Prepared, target: str, options: list[str]) -> _Part:
    piece = Piece(given.name, "PTX", text.text.encode() + b"\0")
    try:
        code, _ = linked([piece], [*options, "-r"])
    except RefusedError as refused:
        raise CompileError(given.name, target, complaints(refused.log, text)) from None
    return _Part(piece, elf.image(code))


def _relocated(piece: Piece, options: list[str]) -> _Part:
    if piece.kind == "CUBIN":
        found = elf.image(piece.data)
        if not found.is_relocatable:
            raise LinkError(
                f"{piece.name} is linked already; what is linked must be relocatable: nvcc -rdc=true, ptxas -c"
            )
        return _Part(piece, found)
    try:
        return _Part(piece, elf.image(linked([piece], [*options, "-r"])[0]))
    except RefusedError as refused:
        if refused.word != _NO_LTO:
            raise LinkError(f"{piece.name} cannot be linked: {refused}") from None
    return _intermediate([piece], options)


def _intermediate(pieces: Sequence[Piece], options: list[str]) -> _Part:
    """What is LTO-IR, compiled together."""
    names = " and ".join(piece.name for piece in pieces)
    try:
        code, _ = linked(pieces, [*options, "-lto", "-r"])
    except RefusedError as refused:
        raise LinkError(f"{names} cannot be linked: {refused}") from None
    return _Part(Piece(names, "CUBIN", code), elf.image(code), is_intermediate=True)


def _check_doubles(parts: Sequence[_Part]) -> None:
    """`LinkError` where two inputs define a name."""
    homes: dict[str, str] = {}
    for part in parts:
        for name in sorted(part.image.defined):
            if name in homes:
                raise LinkError(f"{homes[name]} and {part.piece.name} both define {name!r}")
            homes[name] = part.piece.name


def _joined(parts: Sequence[_Part], pieces: Sequence[Piece], options: list[str]) -> tuple[bytes, str]:
    try:
        return linked(pieces, options)
    except RefusedError as refused:
        names = dict.fromkeys(_UNDEFINED.findall(refused.log))
        if names:
            raise LinkError("\n".join(_missing(name, parts) for name in names)) from None
        where = refused.piece.name if refused.piece else " and ".join(piece.name for piece in pieces)
        raise LinkError(f"{where} cannot be linked: {refused}") from None


def _missing(name: str, parts: Sequence[_Part]) -> str:
    """Who needs a name that nobody defines, and what may be meant."""
    users = [part.piece.name for part in parts if name in part.image.needed] or ["an input"]
    sentence = f"{' and '.join(users)} {'need' if len(users) > 1 else 'needs'} {name!r}, which no input defines"
    for home, near in _alike(name, parts):
        sentence += f'; {home} defines {near!r}, the same with a C++ signature: declare it extern "C" there'
    return sentence


def _alike(name: str, parts: Sequence[_Part]) -> Iterator[tuple[str, str]]:
    """Definitions whose name in C++ is this one: `_Z8scale_byff` of `scale_by`."""
    mangled = f"_Z{len(name)}{name}"
    return (
        (part.piece.name, each) for part in parts for each in sorted(part.image.defined) if each.startswith(mangled)
    )
