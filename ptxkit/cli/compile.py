"""`ptxkit compile`: lint PTX, and compile and link it with other code to a cubin."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Sequence

import click

from ptxkit.batch.cache_folder import UnusableCacheError
from ptxkit.batch.errors import CannotRunError
from ptxkit.cli import shell_completion
from ptxkit.cli.compile_inputs import CompileInputs, read_compile_inputs
from ptxkit.cli.device_errors import write_device_error
from ptxkit.cli.input_files import STDIN
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.page_files import write_atomically
from ptxkit.cli.refusals import write_error, write_refusal
from ptxkit.cli.settings_options import (
    CONFIGURATION_NAMES,
    RULE_NAMES,
    SettingParam,
    check_options,
    layer_of,
)
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.cli.value_types import WholeNumber, WordChoice, format_option
from ptxkit.device.compiler import Cubin, compile_with_ptxas
from ptxkit.device.compiler import compile as compile_module
from ptxkit.device.disassembler import disassemble
from ptxkit.device.errors import DeviceError
from ptxkit.device.linker import link
from ptxkit.device.resource_usage import read_resources
from ptxkit.elf import ElfError
from ptxkit.exit_status import ExitStatus
from ptxkit.fast_dataclasses import replace
from ptxkit.report import diagnostic_lines
from ptxkit.report.machine_code_report import machine_code_json, resource_lines
from ptxkit.settings import parsers
from ptxkit.settings.errors import SettingsError
from ptxkit.syntax import PTXSyntaxError
from ptxkit.untrusted_text import escape_lines, escape_text

_SUFFIX = ".cubin"
_WARNING = re.compile(r"^(?:ptxas |nvlink )?warning *: *(.*)", re.MULTILINE)
"""A line of the log of ptxas or nvJitLink."""
_REMEDY = "correct the PTX, or compile for another GPU by `--target`"
_LEVELS = ("0", "1", "2", "3")

_GROUPS = {
    "Compilation": ("--target", "--ptxas", "--opt-level", "--device-debug", "--lineinfo", "--maxrregcount"),
    "Output": ("--output", "--format", "--sass"),
    "Rule selection": ("--no-lint", *RULE_NAMES, "--launch"),
    "Performance": ("--no-cache",),
    "Configuration": CONFIGURATION_NAMES,
}
_EXAMPLES = (
    ("ptxkit compile k.ptx", "Check a file, and write k.cubin for its own .target."),
    ("ptxkit compile k.ptx math.a -o app.cubin", "Link a file with a library."),
    ("ptxkit compile --sass k.ptx", "Print the machine code."),
)
_EXIT_STATUSES = {
    0: "The code is compiled; there may be warnings.",
    1: "The PTX has errors, so nothing is compiled.",
    2: "The command line, the settings or an input cannot be used, or the code cannot be compiled, linked or written.",
}


@click.command(
    cls=GroupedOptionsCommand,
    option_groups=_GROUPS,
    examples=_EXAMPLES,
    exit_statuses=_EXIT_STATUSES,
)
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", shell_complete=shell_completion.complete_paths)
@click.option(
    "--output",
    "-o",
    metavar="CUBIN",
    shell_complete=shell_completion.complete_paths,
    help="The cubin to write.  [default: the name of a single FILE with .cubin, in the working directory]",
)
@click.option(
    "--target",
    type=SettingParam(parsers.parse_target_name, "SM"),
    shell_complete=shell_completion.complete_targets,
    help="GPU to compile for, such as sm_90a.  [default: the .target of the PTX]",
)
@click.option("--ptxas", "uses_ptxas", is_flag=True, help="Compile one PTX file with ptxas, which links nothing.")
@click.option(
    "-O",
    "--opt-level",
    "level",
    type=WordChoice(_LEVELS),
    metavar="LEVEL",
    help="Optimization level of ptxas: 0 to 3.  [default: 3]",
)
@click.option("-g", "--device-debug", "has_debug", is_flag=True, help="Generate debug information.")
@click.option("--lineinfo", "has_lines", is_flag=True, help="Generate line numbers of the source.")
@click.option("--maxrregcount", "registers", type=WholeNumber(1), metavar="N", help="Largest number of registers.")
@click.option(
    "--sass",
    "prints_sass",
    is_flag=True,
    help="Print the machine code (by nvdisasm) instead of the resources; writes a cubin with --output only.",
)
@format_option(("full", "json"))
@click.option("--no-lint", "is_unchecked", is_flag=True, help="Compile without a check.")
@check_options
@click.option("--no-cache", is_flag=True, help="Neither read nor write the caches of results and cubins.")
@click.pass_context
def compile(  # noqa: A001, PLR0913 (the command's name; options)
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    output: str | None,
    target: str | None,
    uses_ptxas: bool,
    level: str | None,
    has_debug: bool,
    has_lines: bool,
    registers: int | None,
    prints_sass: bool,
    form: str,
    is_unchecked: bool,
    no_cache: bool,
    config: str | None,
    isolated: bool,
    **given: object,
) -> None:
    """Check PTX as lint does, compile it, and link it with other code to a cubin. No GPU is needed.

    FILE is PTX, or code that is linked with it: a relocatable cubin (nvcc -rdc=true -cubin, ptxas -c), LTO-IR, a fat
    binary, an object or a static library. - reads PTX from standard input. nvJitLink compiles and links; ptxas compiles
    a single file that nvJitLink is too old for, or that changes its number of registers (setmaxnreg).

    Only PTX files are checked, with the settings files and suppression comments of lint. Errors are printed, and then
    nothing is compiled. Warnings are printed, too; --severity CODE=error makes one an error.

    The registers, barriers, shared memory, stack, spills and constants of each kernel are printed.
    """
    options = LintOptions(level=layer_of(given), config=config, isolated=isolated, is_cached=not no_cache)
    configured = InputSettings(options)
    inputs = _read_checked(ctx, paths, configured, lints=not is_unchecked)
    if uses_ptxas and inputs.single_module is None:
        what = "`--ptxas` compiles a single PTX file: ptxas links no cubins, LTO-IR, objects, libraries or further PTX"
        raise CommandLineError(what, "leave out `--ptxas`, and nvJitLink links them")
    path = output if prints_sass else output or _default_output(inputs)
    if path is not None:
        _check_output(path, inputs.paths)
    wanted = target or inputs.common_target()
    if wanted is None:
        what = "the files do not state one target that all of them run on" if inputs.modules else "no file is PTX"
        raise CommandLineError(f"{what}, so the GPU is unknown", "write `--target sm_90a`, for example")
    switches = [
        "-verbose",
        *(["-g"] if has_debug else []),
        *(["-lineinfo"] if has_lines else []),
        *([f"-Xptxas=-O{level}"] if level is not None else []),
        *([f"-maxrregcount={registers}"] if registers is not None else []),
    ]
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cubin = _compile_inputs(inputs, wanted, switches, uses_ptxas=uses_ptxas, is_cached=not no_cache)
        code = replace(read_resources(cubin), path=path)
        if prints_sass:
            code = replace(code, listing=disassemble(cubin.code, with_lines=has_debug or has_lines))
    except (DeviceError, ElfError) as error:
        ctx.exit(write_device_error(error, _REMEDY, inputs.single_module))
    for text in (*(str(each.message) for each in caught), *_WARNING.findall(cubin.log)):
        click.echo(f"ptxkit: warning: {escape_text(text)}", err=True)
    if not cubin.kernels and len(inputs.modules) < len(inputs.linked):
        what = "the cubin has no kernel: nvJitLink leaves out code of objects and fat binaries that is not relocatable"
        click.echo(f"ptxkit: warning: {what} (nvcc -rdc=true makes it so)", err=True)
    failure = write_atomically(path, cubin.code) if path is not None else None
    if failure is not None:
        raise CommandLineError(f"`{path}` cannot be written: {failure}", "name another file by `--output CUBIN`")
    if form == "json":
        sys.stdout.write(machine_code_json(code))
    elif code.listing is not None:
        sys.stdout.write(escape_lines(code.listing))
    else:
        write_lines(resource_lines(code))


def _read_checked(ctx: click.Context, paths: Sequence[str], configured: InputSettings, *, lints: bool) -> CompileInputs:
    """Reads and checks the inputs and prints what is found. Exits where nothing can be compiled."""
    try:
        inputs = read_compile_inputs(paths, configured, lints=lints)
        configured.check_launches()
    except (SettingsError, CannotRunError, UnusableCacheError) as error:
        ctx.exit(write_error(error))
    except PTXSyntaxError as error:
        write_lines(diagnostic_lines(error.diagnostics), error=True)
        ctx.exit(ExitStatus.FINDINGS)
    write_lines(diagnostic_lines(item for each in inputs.results for item in each.diagnostics), error=True)
    if inputs.has_failed:
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    if inputs.error_count:
        what = f"the PTX has {inputs.error_count} error{'s' * (inputs.error_count != 1)}, so nothing is compiled"
        write_refusal(what, "correct the PTX, or write `--no-lint`")
        ctx.exit(ExitStatus.FINDINGS)
    return inputs


def _compile_inputs(
    inputs: CompileInputs, target: str, switches: Sequence[str], *, uses_ptxas: bool, is_cached: bool
) -> Cubin:
    module = inputs.single_module
    if module is not None and uses_ptxas:
        return compile_with_ptxas(module, target, options=switches)
    if module is not None:
        return compile_module(module, target, verify=False, options=switches, cache=is_cached)
    return link(inputs.linked, target, verify=False, options=switches, cache=is_cached).cubin


def _default_output(inputs: CompileInputs) -> str:
    """The name of the cubin as nvcc chooses it. Raises CommandLineError if there is no single file."""
    if len(inputs.linked) != 1 or STDIN in inputs.paths:
        what = "standard input has no name" if STDIN in inputs.paths else "several files are linked to one"
        raise CommandLineError(f"{what}, so the cubin has none", "name it by `--output CUBIN`")
    return os.path.splitext(os.path.basename(inputs.paths[0]))[0] + _SUFFIX


def _check_output(path: str, inputs: Sequence[str]) -> None:
    """Raises CommandLineError for an output that is an input, or that could be taken for one."""
    if path == STDIN:
        raise CommandLineError("a cubin is not printed", "name a file by `--output CUBIN`, or print it by `--sass`")
    if any(os.path.realpath(path) == os.path.realpath(each) or _is_same_file(path, each) for each in inputs):
        raise CommandLineError(f"the output `{path}` is one of the inputs", "name another file by `--output CUBIN`")


def _is_same_file(first: str, second: str) -> bool:
    """Returns whether two paths are links to one file."""
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):
        return False
