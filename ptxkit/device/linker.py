"""Links several inputs to one cubin: names that one of them declares `.extern` are defined by the others.

    program = link([kernel, Path("helpers.ptx"), Path("libmath.a")], "sm_90a")
    program["scale"][grid, block](data, count)

Each input is first compiled to a relocatable cubin, which states the names that it defines and uses. Thus each error
belongs to one input, two definitions of a name are detected before nvJitLink, which aborts the process for some, and
functions of LTO-IR that only PTX calls are kept, which nvJitLink would remove as unused if it linked both at once. If
all inputs are LTO-IR, they are compiled as one program.

Releases before 13.3 link inputs of LTO-IR only as a whole program, although it must be relocatable, and so remove all
of its functions. They keep those that are linked together with a module of PTX, which may be empty, unless the LTO-IR
also has a kernel. So these releases compile each input of LTO-IR separately.

Source: nvJitLink documentation, "Supported Link Options"; PTX ISA, "Linking Directives".
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptxkit.device import cubin_cache, cubin_reader, dynamic_shared_placement, ptxas_program
from ptxkit.device.compiler import Cubin, PreparedSource, format_undecided, parse_complaints, prepare_source
from ptxkit.device.errors import CompileError, DeviceError, LinkError
from ptxkit.device.link_inputs import Linkable, LinkInput, make_link_input
from ptxkit.device.linked_program import Program
from ptxkit.device.nvjitlink import NvJitLinkError, NvJitLinkInput, link_cubin, nvjitlink_release
from ptxkit.device.prototype_checks import check_prototypes
from ptxkit.device.targets import check_target
from ptxkit.elf import ElfError
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.kernel_model.verification import verify_assembled

_UNDEFINED = re.compile(r"Undefined reference to '([^']+)'")
_NO_LTO = "ERROR_LTO_NOT_ENABLED"
_KEEPS_UNUSED_FUNCTIONS = (13, 3)
"""The first release that keeps unused functions of relocatable LTO-IR which has a kernel."""
_EMPTY_MODULE = NvJitLinkInput("an empty module", "PTX", b".version 4.0\n.target sm_50\n.address_size 64\n\0")


def link(
    inputs: Iterable[Linkable],
    target: str = "sm_90a",
    *,
    verify: bool = True,
    options: Sequence[str] = (),
    cache: bool = True,
) -> Program:
    """Links the kernels of several inputs for one target, which needs no GPU.

    `inputs` are kernels and functions of the builder, parsed modules, PTX text, paths, bytes, or code of `cuda.core`:
    PTX, relocatable cubins (`nvcc -rdc=true -cubin`), LTO-IR, fat binaries, objects and static libraries. With
    `verify`, all PTX is verified. `options` are options of nvJitLink.

    Raises `LinkError` with the input and the name that is undefined or defined twice, `CompileError`,
    `VerificationError`, `OSError` for a path that cannot be read, and `DeviceError` for other inputs.
    """
    check_target(target)
    if not isinstance(inputs, Iterable) or isinstance(inputs, str | bytes):
        raise DeviceError(f"the inputs are a list, link([kernel, ...]), not as one {type(inputs).__name__}")
    given = [make_link_input(value, number) for number, value in enumerate(inputs, 1)]
    if not given:
        raise DeviceError("there is nothing to link")
    texts = _prepare_sources(given)
    check_prototypes([(each.name, text.assembled.module) for each, text in texts])
    entry = _make_cache_key(given, texts, target, options, verify)
    found = cubin_cache.load_cubin(entry) if cache else None
    if found is None:
        found = _link_and_verify(given, texts, target, [f"-arch={target}", *options], verify)
        if cache:
            cubin_cache.save_cubin(entry, found)
    known = {signature.name: signature for _, text in texts for signature in text.kernels}
    kernels = tuple(known.get(each.name, each) for each in cubin_reader.read_cubin(found.code).kernels)
    return Program(Cubin(found.code, target, kernels, "", found.log, found.undecided, found.compiler))


def _prepare_sources(given: Sequence[LinkInput]) -> list[tuple[LinkInput, PreparedSource]]:
    """Returns the inputs that are PTX. Launch-sized shared memory has the same alignment in all of them."""
    first = [(each, prepare_source(each.source)) for each in given if each.source is not None]
    least = max((dynamic_shared_placement.required_alignment(text.assembled.module) for _, text in first), default=0)
    texts = [(each, prepare_source(each.source, least)) for each, _ in first if each.source is not None]
    for each, text in texts:
        if ptxas_program.has_setmaxnreg(text.assembled.module):
            warnings.warn(
                f"{each.name} sets its registers (setmaxnreg), which code that is linked cannot: the instruction is "
                "ignored, and values may be spilled",
                stacklevel=3,
            )
    return texts


def _make_cache_key(
    given: Sequence[LinkInput],
    texts: Sequence[tuple[LinkInput, PreparedSource]],
    target: str,
    options: Sequence[str],
    verify: bool,
) -> cubin_cache.CubinKey:
    digest = hashlib.sha256()
    known = {id(each): text.text.encode() for each, text in texts}
    for each in given:
        data = each.piece.data if each.piece is not None else known[id(each)]
        digest.update(f"{each.name} {len(data)}\n".encode() + data)
    return cubin_cache.CubinKey(digest.hexdigest(), target, ("link", *options), verify, nvjitlink_release())


def _link_and_verify(
    given: Sequence[LinkInput],
    texts: Sequence[tuple[LinkInput, PreparedSource]],
    target: str,
    options: list[str],
    verify: bool,
) -> cubin_cache.CubinRecord:
    questions: list[str] = []
    if verify:
        for _, text in texts:
            questions += format_undecided(verify_assembled(text.assembled, text.name))
    known = {id(each): text for each, text in texts}
    code, log = _link_inputs(given, known, target, options)
    again = dynamic_shared_placement.pad_misplaced(code, [text.assembled.module for _, text in texts])
    if again is not None:
        for (each, text), module in zip(texts, again, strict=True):
            known[id(each)] = replace(text, text=str(module))
        code, log = _link_inputs(given, known, target, options)
        dynamic_shared_placement.check_placement(code, again)
    major, minor = nvjitlink_release()
    return cubin_cache.CubinRecord(code, log, tuple(questions) if verify else None, f"nvJitLink {major}.{minor}")


def _link_inputs(
    given: Sequence[LinkInput], known: Mapping[int, PreparedSource], target: str, options: list[str]
) -> tuple[bytes, str]:
    """Returns the cubin and nvJitLink's remarks. `known` holds the PTX inputs by the identity of the input."""
    parts: list[_LinkUnit] = []
    later: list[NvJitLinkInput] = []
    for each in given:
        piece = each.piece
        if piece is None:
            parts.append(_make_ptx_unit(each, known[id(each)], target, options))
        elif piece.kind in ("LTOIR", "LIBRARY"):
            later.append(piece)
        else:
            parts.append(_make_relocatable_unit(piece, options))
    libraries = [piece for piece in later if piece.kind == "LIBRARY"]
    intermediate = [piece for piece in later if piece.kind == "LTOIR"]
    if intermediate and not parts:
        return _link_units([], [*intermediate, *libraries], [*options, "-lto"])
    if intermediate and nvjitlink_release() < _KEEPS_UNUSED_FUNCTIONS:
        parts += [_compile_lto_ir([piece], options) for piece in intermediate]
    elif intermediate:
        parts.append(_compile_lto_ir(intermediate, options))
    _check_duplicate_definitions(parts)
    code, log = _link_units(parts, [*(part.piece for part in parts), *libraries], options)
    return code, "\n".join(filter(None, (*(part.log for part in parts), log)))


@dataclass(frozen=True, slots=True)
class _LinkUnit:
    """An input of the final link, with its symbols as a relocatable cubin.

    Only LTO-IR is linked as that cubin: release 13.0 would place launch-sized memory that functions name at address 0.
    `may_lack_functions` if nvJitLink may have removed functions of it that other inputs call. `log` holds the remarks
    about an input that the final link does not compile.
    """

    piece: NvJitLinkInput
    image: cubin_reader.CubinImage
    may_lack_functions: bool = False
    log: str = ""


def _make_ptx_unit(given: LinkInput, text: PreparedSource, target: str, options: list[str]) -> _LinkUnit:
    piece = NvJitLinkInput(given.name, "PTX", text.text.encode() + b"\0")
    try:
        code, _ = link_cubin([piece], [*options, "-r"])
    except NvJitLinkError as refused:
        raise CompileError(given.name, target, parse_complaints(refused.log, text)) from None
    return _LinkUnit(piece, cubin_reader.read_cubin(code))


def _make_relocatable_unit(piece: NvJitLinkInput, options: list[str]) -> _LinkUnit:
    if piece.kind == "CUBIN":
        try:
            found = cubin_reader.read_cubin(piece.data)
        except ElfError as error:
            raise LinkError(f"{piece.name} cannot be read: {error}") from None
        if not found.is_relocatable:
            raise LinkError(f"{piece.name} is linked already; inputs must be relocatable: nvcc -rdc=true, ptxas -c")
        return _LinkUnit(piece, found)
    try:
        return _LinkUnit(piece, cubin_reader.read_cubin(link_cubin([piece], [*options, "-r"])[0]))
    except NvJitLinkError as refused:
        if refused.word != _NO_LTO:
            raise LinkError(f"{piece.name} cannot be linked: {refused}") from None
    return _compile_lto_ir([piece], options)


def _compile_lto_ir(pieces: Sequence[NvJitLinkInput], options: list[str]) -> _LinkUnit:
    """Compiles inputs with LTO-IR together."""
    names = " and ".join(piece.name for piece in pieces)
    try:
        code, log = link_cubin([*pieces, _EMPTY_MODULE], [*options, "-lto", "-r"])
    except NvJitLinkError as refused:
        raise LinkError(f"{names} cannot be linked: {refused}") from None
    image = cubin_reader.read_cubin(code)
    has_lost = nvjitlink_release() < _KEEPS_UNUSED_FUNCTIONS
    return _LinkUnit(NvJitLinkInput(names, "CUBIN", code), image, has_lost, log)


def _check_duplicate_definitions(parts: Sequence[_LinkUnit]) -> None:
    """Raises `LinkError` if two inputs define the same name."""
    homes: dict[str, str] = {}
    for part in parts:
        for name in sorted(part.image.defined_names):
            if name in homes:
                raise LinkError(f"{homes[name]} and {part.piece.name} both define {name!r}")
            homes[name] = part.piece.name


def _link_units(parts: Sequence[_LinkUnit], pieces: Sequence[NvJitLinkInput], options: list[str]) -> tuple[bytes, str]:
    try:
        return link_cubin(pieces, options)
    except NvJitLinkError as refused:
        names = dict.fromkeys(_UNDEFINED.findall(refused.log))
        if names:
            raise LinkError("\n".join(_undefined_name_message(name, parts) for name in names)) from None
        where = refused.piece.name if refused.piece else " and ".join(piece.name for piece in pieces)
        raise LinkError(f"{where} cannot be linked: {refused}") from None


def _undefined_name_message(name: str, parts: Sequence[_LinkUnit]) -> str:
    """Returns a message that names the inputs that use an undefined name, and names that may be meant."""
    users = [part.piece.name for part in parts if name in part.image.undefined_names] or ["an input"]
    sentence = f"{' and '.join(users)} {'need' if len(users) > 1 else 'needs'} {name!r}, which no input defines"
    for home, near in _find_mangled_definitions(name, parts):
        sentence += f'; {home} defines {near!r}, the same with a C++ signature: declare it extern "C" there'
    lacking = [part.piece.name for part in parts if part.may_lack_functions]
    if lacking:
        (major, minor), (first, second) = nvjitlink_release(), _KEEPS_UNUSED_FUNCTIONS
        sentence += (
            f"; if {' or '.join(lacking)} defines it with a kernel, nvJitLink {major}.{minor} removed it: install "
            f"{first}.{second} or newer, or define it in LTO-IR without kernels"
        )
    return sentence


def _find_mangled_definitions(name: str, parts: Sequence[_LinkUnit]) -> Iterator[tuple[str, str]]:
    """Yields definitions whose demangled name is this one: `_Z8scale_byff` for `scale_by`."""
    mangled = f"_Z{len(name)}{name}"
    return (
        (part.piece.name, each)
        for part in parts
        for each in sorted(part.image.defined_names)
        if each.startswith(mangled)
    )
