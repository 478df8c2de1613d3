"""PTX to cubin through nvJitLink, or through ptxas where a module must be whole: needs no GPU and no driver.

This is a function and not a method of the kernel: it takes a kernel of the builder, a parsed module, or text alike, and
the builder stays free of CUDA.

Source: nvJitLink documentation, "Supported Link Options".
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from ptxkit.build import Assembled, Kernel, Location, verify_assembled
from ptxkit.build.instructions import remember_choices
from ptxkit.build.routine import Routine
from ptxkit.build.verify import location_at, statement_starts
from ptxkit.device import assembler, launch_sized, store
from ptxkit.device.errors import CompileError, Complaint, DeviceError
from ptxkit.device.libraries import nvjitlink
from ptxkit.device.nvjitlink import Piece, RefusedError, UnknownTargetError, linked
from ptxkit.device.signature import Signature, of_kernel, of_module
from ptxkit.device.targets import check_target
from ptxkit.diagnostics import Verdict
from ptxkit.records import dataclass, field, replace
from ptxkit.syntax import tree

_UNDEFINED = re.compile(r"Undefined reference to '([^']+)'")
_TOO_NEW = re.compile(r"Unsupported \.version|Unsupported \.target|[Uu]nknown \.target")
_LOG_LINE = re.compile(r"ptxas .*?, line (\d+); (error|warning|fatal)\s*: (.*)")


@dataclass(frozen=True, slots=True)
class Cubin:
    """Machine code for one target. kernels: what may be launched from it. log: what the compiler remarked. undecided:
    what the verifier left open, as `PTX302: reason (ptx:12)`; None where it was not asked. compiler: what made it, such
    as `nvJitLink 13.5` or `ptxas 13.0 (/usr/local/cuda/bin/ptxas)`."""

    code: bytes = field(repr=False)
    target: str
    kernels: tuple[Signature, ...]
    ptx: str = field(repr=False)
    log: str = field(repr=False, default="")
    undecided: tuple[str, ...] | None = field(repr=False, default=None)
    compiler: str = field(repr=False, default="")

    def kernel(self, name: str | None = None) -> Signature:
        """The kernel of that name; without a name, the only one."""
        if name is None and len(self.kernels) == 1:
            return self.kernels[0]
        found = next((each for each in self.kernels if each.name == name), None)
        if found is None:
            names = ", ".join(each.name for each in self.kernels) or "none"
            raise DeviceError(f"no kernel is called {name!r}; the cubin holds {names}")
        return found

    def write(self, path: str | Path) -> None:
        """Writes the ELF file, as `cuobjdump` and `nvdisasm` read it."""
        Path(path).write_bytes(self.code)


def compile(  # noqa: A001  (what the step is called everywhere)
    source: Kernel | tree.Module | str,
    target: str = "sm_90a",
    *,
    verify: bool = True,
    options: Sequence[str] = (),
    cache: bool = True,
) -> Cubin:
    """The cubin of a kernel, a module or PTX text, for one target.

    It is verified: `VerificationError` where the verifier proves a fault, and there is no cubin then;
    `verify=False` is the way round it. options: the compiler's; `-lineinfo` goes with a kernel's `debug`. cache: what
    was compiled before is taken from the user's cache folder, and what is compiled is kept there. What compiles it is
    nvJitLink, or a ptxas that knows the module's `.version` and the target, where nvJitLink does not, or where the
    module must be whole (setmaxnreg); `Cubin.compiler` says which. Errors: `PTXSyntaxError` for text that is not PTX,
    `CompileError` with the compiler's log, `MissingLibraryError`.
    """
    check_target(target)
    prepared = prepare(source)
    module = prepared.assembled.module
    program = _whole_by(prepared, target) if assembler.sets_registers(module) else None
    lines = ["-lineinfo"] if isinstance(source, Kernel) and source.debug else []
    stamp = tuple(nvjitlink().version()) if program is None else program.stamp
    entry = store.Entry(prepared.text, target, (*lines, *options), verify, stamp)
    found = store.find(entry) if cache else None
    if found is not None:
        return _cubin(found, target, prepared)
    given = [*lines, *options]
    make = partial(_linked_or_assembled, prepared, target, given)
    if program is not None:
        make = partial(_assemble, prepared, target, given, program)
    made = _made_and_verified(make, prepared) if verify else make()
    if cache:
        store.keep(entry, made)
        remember_choices()
    return _cubin(made, target, prepared)


def _cubin(made: store.Found, target: str, prepared: Prepared) -> Cubin:
    return Cubin(made.code, target, prepared.kernels, prepared.text, made.log, made.undecided, made.compiler)


def _whole_by(prepared: Prepared, target: str) -> assembler.Assembler | None:
    """The ptxas that compiles a module which must be whole; None, and a warning, where only nvJitLink is left."""
    if not assembler.programs():
        raise assembler.missing()
    module = prepared.assembled.module
    program = assembler.chosen(module, target)
    if program is None:
        warnings.warn(
            f"{prepared.name} sets its registers (setmaxnreg), and {assembler.too_old(module, target)}. nvJitLink "
            "compiles it and ignores the instruction: values may be spilled",
            stacklevel=3,
        )
    return program


def open_questions(verdict: Verdict) -> tuple[str, ...]:
    """What a verifier left open, a sentence each."""
    return tuple(
        f"{each.code}: {each.reason} (ptx:{each.source.position(each.span.start)[0]})" for each in verdict.undecided
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """What every kind of source comes down to."""

    name: str
    text: str
    assembled: Assembled
    kernels: tuple[Signature, ...]


def prepare(source: Routine | tree.Module | str, least: int = 0) -> Prepared:
    """A source, read; launch-sized shared memory is aligned alike everywhere, to at least `least` bytes."""
    assembled, kernels = _read(source)
    module = assembled.module
    even = launch_sized.aligned(module, max(least, launch_sized.alignment(module)))
    if even is not module:
        assembled = replace(assembled, module=even)
    text = even.source.text if even.source is not None else str(even)
    return Prepared(kernels[0].name if kernels else "module", text, assembled, kernels)


def _read(source: Routine | tree.Module | str) -> tuple[Assembled, tuple[Signature, ...]]:
    if isinstance(source, Routine):
        return source.assembled(), (of_kernel(source),) if isinstance(source, Kernel) else ()
    if isinstance(source, str):
        from ptxkit import parse

        source = parse(source)
    if not isinstance(source, tree.Module):
        raise DeviceError(f"a kernel, a module or PTX text can be compiled, not {type(source).__name__}")
    return Assembled(source, ()), of_module(source)


def _made_and_verified(make: Callable[[], store.Found], prepared: Prepared) -> store.Found:
    """The machine code, with what the verifier leaves open. The two need nothing of each other, and each about as long:
    so both at once. What the verifier finds goes before what the compiler says."""
    with ThreadPoolExecutor(1) as beside:
        coming = beside.submit(make)
        undecided = open_questions(verify_assembled(prepared.assembled, prepared.name))
    return replace(coming.result(), undecided=undecided)


def _linked_or_assembled(prepared: Prepared, target: str, options: list[str]) -> store.Found:
    """What nvJitLink makes of a module that nothing is linked with; what ptxas does, where nvJitLink is too old."""
    try:
        return _linked_alone(prepared, target, options)
    except (CompileError, UnknownTargetError) as refused:
        if isinstance(refused, CompileError) and not _TOO_NEW.search(str(refused)):
            raise
        program = assembler.chosen(prepared.assembled.module, target)
        if program is None:
            raise
        return _assemble(prepared, target, options, program)


def _linked_alone(prepared: Prepared, target: str, options: list[str]) -> store.Found:
    code, log = _link(prepared, [f"-arch={target}", *options])
    again = launch_sized.repaired(code, [prepared.assembled.module])
    if again is not None:
        code, log = _link(replace(prepared, text=str(again[0])), [f"-arch={target}", *options])
        launch_sized.check(code, again)
    major, minor = nvjitlink().version()
    return store.Found(code, log, compiler=f"nvJitLink {major}.{minor}")


def _assemble(prepared: Prepared, target: str, options: list[str], program: assembler.Assembler) -> store.Found:
    code, log = assembler.assembled(prepared.text, target, options, program)
    if code is None:
        raise CompileError(prepared.name, target, complaints(log, prepared))
    return store.Found(code, log, compiler=str(program))


def _link(prepared: Prepared, options: list[str]) -> tuple[bytes, str]:
    piece = Piece(f"{prepared.name}.ptx", "PTX", prepared.text.encode() + b"\0")
    try:
        return linked([piece], options)
    except RefusedError as failure:
        target = options[0].removeprefix("-arch=")
        raise CompileError(prepared.name, target, complaints(failure.log, prepared)) from None


def complaints(log: str, prepared: Prepared) -> list[Complaint]:
    """The log's lines; those that name a line of the PTX with its text and the user's line."""
    lines = prepared.text.splitlines()
    found = []
    for match in _LOG_LINE.finditer(log):
        number = int(match[1])
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        found.append(Complaint(match[3].strip(), number, text, _location(number, prepared)))
    return found or [*map(Complaint, _elsewhere(log)), Complaint(log)]


def _elsewhere(log: str) -> Iterator[str]:
    """What to do about the functions and variables of other modules."""
    names = [f"{name!r}" for name in dict.fromkeys(_UNDEFINED.findall(log))]
    if names:
        verb = "is" if len(names) == 1 else "are"
        yield f"{' and '.join(names)} {verb} of another module: link the two, `ptxkit.link([kernel, other])`"


def _location(line: int, prepared: Prepared) -> Location | None:
    if not prepared.assembled.locations:
        return None
    from ptxkit import parse

    starts = statement_starts(parse(prepared.text), prepared.name)
    offset = sum(len(each) for each in prepared.text.splitlines(keepends=True)[:line]) - 1
    return location_at(offset, starts, prepared.assembled.locations)
