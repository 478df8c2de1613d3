"""Compiles PTX to a cubin with nvJitLink, or with ptxas if a module must be compiled as a whole. Needs no GPU or
driver.

`compile` is a function and not a method of the kernel: it accepts a kernel of the builder, a parsed module, or text,
and the builder does not depend on CUDA.

Source: nvJitLink documentation, "Supported Link Options".
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from ptxkit.device import cubin_cache, dynamic_shared_placement, ptxas_program
from ptxkit.device.errors import CompileError, Complaint, DeviceError
from ptxkit.device.nvjitlink import NvJitLinkError, NvJitLinkInput, UnknownTargetError, link_cubin, nvjitlink_release
from ptxkit.device.signature import Signature, make_kernel_signature, make_module_signatures
from ptxkit.device.targets import check_target
from ptxkit.diagnostics import Verdict
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.kernel_model.launch_limits import find_launch_limits
from ptxkit.kernel_model.routines import BuiltRoutine, is_built_kernel
from ptxkit.kernel_model.source_lines import Assembled, Location, find_location, find_statement_starts
from ptxkit.kernel_model.verification import verify_assembled
from ptxkit.model.kernel_conditions import describe_question
from ptxkit.syntax import parse, tree

_UNDEFINED = re.compile(r"Undefined reference to '([^']+)'")
_TOO_NEW = re.compile(r"Unsupported \.version|Unsupported \.target|[Uu]nknown \.target")
_LOG_LINE = re.compile(r"ptxas .*?, line (\d+); (error|warning|fatal)\s*: (.*)")


@dataclass(frozen=True, slots=True)
class Cubin:
    """Machine code for one target.

    `kernels` are the kernels that can be launched. `log` holds the compiler's remarks. `undecided` holds what the
    verifier could not decide, as `PTX302: reason (ptx:12)`, or is None if nothing was verified. `compiler` names the
    compiler, such as `nvJitLink 13.5` or `ptxas 13.0 (/usr/local/cuda/bin/ptxas)`.
    """

    code: bytes = field(repr=False)
    target: str
    kernels: tuple[Signature, ...]
    ptx: str = field(repr=False)
    log: str = field(repr=False, default="")
    undecided: tuple[str, ...] | None = field(repr=False, default=None)
    compiler: str = field(repr=False, default="")

    def kernel(self, name: str | None = None) -> Signature:
        """Returns the kernel of that name, or the only kernel if no name is given. Raises `DeviceError` if none
        exists.
        """
        if name is None and len(self.kernels) == 1:
            return self.kernels[0]
        found = next((each for each in self.kernels if each.name == name), None)
        if found is None:
            names = ", ".join(each.name for each in self.kernels) or "none"
            raise DeviceError(f"no kernel is called {name!r}; the cubin holds {names}")
        return found

    def write(self, path: str | Path) -> None:
        """Writes the ELF file, which `cuobjdump` and `nvdisasm` can read."""
        Path(path).write_bytes(self.code)


def compile(  # noqa: A001  (what the step is called everywhere)
    source: BuiltRoutine | tree.Module | str,
    target: str = "sm_90a",
    *,
    verify: bool = True,
    options: Sequence[str] = (),
    cache: bool = True,
) -> Cubin:
    """Compiles a kernel, a module or PTX text for one target, such as `sm_90a`.

    The source is verified, unless `verify` is False. `options` are options of the compiler; `-lineinfo` is useful with
    a kernel's `debug`. With `cache`, results are read from and kept in the user's cache folder. The compiler is
    nvJitLink, or a ptxas that supports the module's `.version` and the target, if nvJitLink does not or if the module
    must be compiled as a whole (setmaxnreg). `Cubin.compiler` names it.

    Raises `VerificationError` if the verifier proves an error, `PTXSyntaxError` for text that is not PTX,
    `CompileError` with the compiler's log, and `MissingLibraryError`.
    """
    check_target(target)
    prepared = prepare_source(source)
    module = prepared.assembled.module
    program = _select_whole_program_ptxas(prepared, target) if ptxas_program.has_setmaxnreg(module) else None
    lines = ["-lineinfo"] if isinstance(source, BuiltRoutine) and source.debug else []
    stamp = nvjitlink_release() if program is None else program.fingerprint
    entry = cubin_cache.CubinKey(prepared.text, target, (*lines, *options), verify, stamp)
    found = cubin_cache.load_cubin(entry) if cache else None
    if found is not None:
        return _make_cubin(found, target, prepared)
    given = [*lines, *options]
    make = partial(_link_or_assemble, prepared, target, given)
    if program is not None:
        make = partial(_assemble, prepared, target, given, program)
    made = _compile_and_verify(make, prepared) if verify else make()
    if cache:
        cubin_cache.save_cubin(entry, made)
        if isinstance(source, BuiltRoutine):
            source.store_selections()
    return _make_cubin(made, target, prepared)


def compile_with_ptxas(
    source: BuiltRoutine | tree.Module | str, target: str = "sm_90a", *, options: Sequence[str] = ()
) -> Cubin:
    """Compiles a kernel, a module or PTX text as a whole program with ptxas, which is not verified.

    Raises `PTXSyntaxError`, `CompileError`, `UnknownTargetError` if no ptxas here compiles it for the target, and
    `MissingLibraryError` without ptxas.
    """
    check_target(target)
    prepared = prepare_source(source)
    module = prepared.assembled.module
    program = ptxas_program.select_ptxas(module, target)
    if program is None:
        if not ptxas_program.find_all_ptxas():
            raise ptxas_program.missing_ptxas_error("ptxas is not installed")
        raise UnknownTargetError(ptxas_program.explain_too_old(module, target))
    return _make_cubin(_assemble(prepared, target, list(options), program), target, prepared)


def _make_cubin(made: cubin_cache.CubinRecord, target: str, prepared: PreparedSource) -> Cubin:
    limits = dict(made.limits)
    kernels = tuple(each.with_limits(limits.get(each.name, ())) for each in prepared.kernels)
    return Cubin(made.code, target, kernels, prepared.text, made.log, made.undecided, made.compiler)


def _select_whole_program_ptxas(prepared: PreparedSource, target: str) -> ptxas_program.PtxasProgram | None:
    """Returns the ptxas for a module that must be compiled as a whole, or None, with a warning, if there is only
    nvJitLink.
    """
    if not ptxas_program.find_all_ptxas():
        raise ptxas_program.missing_ptxas_error("a kernel with setmaxnreg is compiled by ptxas, which is not installed")
    module = prepared.assembled.module
    program = ptxas_program.select_ptxas(module, target)
    if program is None:
        warnings.warn(
            f"{prepared.name} sets its registers (setmaxnreg), and "
            f"{ptxas_program.explain_too_old(module, target)}. nvJitLink "
            "compiles it and ignores the instruction: values may be spilled",
            stacklevel=3,
        )
    return program


def format_undecided(verdict: Verdict) -> tuple[str, ...]:
    """Returns a sentence for each property that a verifier could not decide."""
    return tuple(
        f"{each.code}: {describe_question(each)} (ptx:{each.source.position(each.span.start)[0]})"
        for each in verdict.undecided
    )


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """The common form of all kinds of source."""

    name: str
    text: str
    assembled: Assembled
    kernels: tuple[Signature, ...]


def prepare_source(source: BuiltRoutine | tree.Module | str, least: int = 0) -> PreparedSource:
    """Prepares a source: all launch-sized shared memory has the same alignment, of at least `least` bytes."""
    assembled, kernels = _read_source(source)
    module = assembled.module
    even = dynamic_shared_placement.align_declarations(
        module, max(least, dynamic_shared_placement.required_alignment(module))
    )
    if even is not module:
        assembled = replace(assembled, module=even)
    text = even.source.text if even.source is not None else str(even)
    return PreparedSource(kernels[0].name if kernels else "module", text, assembled, kernels)


def _read_source(source: BuiltRoutine | tree.Module | str) -> tuple[Assembled, tuple[Signature, ...]]:
    if isinstance(source, BuiltRoutine):
        return source.assemble(), (make_kernel_signature(source),) if is_built_kernel(source) else ()
    if isinstance(source, str):
        source = parse(source)
    if not isinstance(source, tree.Module):
        raise DeviceError(f"a kernel, a module or PTX text can be compiled, not {type(source).__name__}")
    return Assembled(source, ()), make_module_signatures(source)


def _compile_and_verify(
    make: Callable[[], cubin_cache.CubinRecord], prepared: PreparedSource
) -> cubin_cache.CubinRecord:
    """Compiles the source and returns the machine code with the properties that the verifier could not decide, and with
    the launch limits of the kernels.

    Compilation and verification are independent and take similar times, so they run concurrently. An error of the
    verifier has precedence over an error of the compiler.
    """
    with ThreadPoolExecutor(1) as compiling:
        coming = compiling.submit(make)
        undecided = format_undecided(verify_assembled(prepared.assembled, prepared.name))
        limits = find_launch_limits(prepared.assembled, prepared.name)
    return replace(coming.result(), undecided=undecided, limits=tuple(limits.items()))


def _link_or_assemble(prepared: PreparedSource, target: str, options: list[str]) -> cubin_cache.CubinRecord:
    """Compiles a module with nvJitLink, or with ptxas if nvJitLink is too old for it."""
    try:
        return _link_single(prepared, target, options)
    except (CompileError, UnknownTargetError) as refused:
        if isinstance(refused, CompileError) and not _TOO_NEW.search(str(refused)):
            raise
        program = ptxas_program.select_ptxas(prepared.assembled.module, target)
        if program is None:
            raise
        return _assemble(prepared, target, options, program)


def _link_single(prepared: PreparedSource, target: str, options: list[str]) -> cubin_cache.CubinRecord:
    code, log = _link_source(prepared, [f"-arch={target}", *options])
    again = dynamic_shared_placement.pad_misplaced(code, [prepared.assembled.module])
    if again is not None:
        code, log = _link_source(replace(prepared, text=str(again[0])), [f"-arch={target}", *options])
        dynamic_shared_placement.check_placement(code, again)
    major, minor = nvjitlink_release()
    return cubin_cache.CubinRecord(code, log, compiler=f"nvJitLink {major}.{minor}")


def _assemble(
    prepared: PreparedSource, target: str, options: list[str], program: ptxas_program.PtxasProgram
) -> cubin_cache.CubinRecord:
    code, log = ptxas_program.assemble_cubin(prepared.text, target, options, program)
    if code is None:
        raise CompileError(prepared.name, target, parse_complaints(log, prepared))
    return cubin_cache.CubinRecord(code, log, compiler=str(program))


def _link_source(prepared: PreparedSource, options: list[str]) -> tuple[bytes, str]:
    piece = NvJitLinkInput(f"{prepared.name}.ptx", "PTX", prepared.text.encode() + b"\0")
    try:
        return link_cubin([piece], options)
    except NvJitLinkError as failure:
        target = options[0].removeprefix("-arch=")
        raise CompileError(prepared.name, target, parse_complaints(failure.log, prepared)) from None


def parse_complaints(log: str, prepared: PreparedSource) -> list[Complaint]:
    """Returns the lines of a log. Lines that name a line of the PTX have its text and the user's line."""
    lines = prepared.text.splitlines()
    found = []
    for match in _LOG_LINE.finditer(log):
        number = int(match[1])
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        found.append(Complaint(match[3].strip(), number, text, _find_location(number, prepared)))
    return found or [*map(Complaint, _suggest_linking(log)), Complaint(log)]


def _suggest_linking(log: str) -> Iterator[str]:
    """Yields advice about functions and variables of other modules."""
    names = [f"{name!r}" for name in dict.fromkeys(_UNDEFINED.findall(log))]
    if names:
        verb = "is" if len(names) == 1 else "are"
        yield f"{' and '.join(names)} {verb} of another module: link the two, `ptxkit.link([kernel, other])`"


def _find_location(line: int, prepared: PreparedSource) -> Location | None:
    if not prepared.assembled.locations:
        return None
    starts = find_statement_starts(parse(prepared.text), prepared.name)
    offset = sum(len(each) for each in prepared.text.splitlines(keepends=True)[:line]) - 1
    return find_location(offset, starts, prepared.assembled.locations)
