"""The paths from PTX to machine code, and the launch of a generated kernel."""

from __future__ import annotations

from ptxkit.device import Cubin, DeviceError, ptxas_program
from ptxkit.device import compile as compiled
from ptxkit.device.nvjitlink import newest_nvjitlink_version
from ptxkit.device.signature import make_module_signatures
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.syntax import parse, tree
from ptxkit.testing.generators.kernel_ast import GeneratedKernel

LEVELS = ("0", "1", "2", "3", "link", "jit")
"""Compile paths: ptxas at its optimization levels, nvJitLink, and the JIT compiler of the driver."""


def compile_at_level(text: str, target: str, level: str) -> Cubin | str:
    """Compiles by one of the `LEVELS` to machine code, or returns the reason why this fails; `jit` returns the text for
    the driver.

    target: of the GPU that will run it (`ptxkit.device.target_for`). Raises ValueError for any other level: it may come
    from the options of a saved example and would become a part of a command line.
    """
    if level not in LEVELS:
        raise ValueError(f"{level!r} is not a compile path; the compile paths are {', '.join(LEVELS)}")
    if level == "jit":
        return Cubin(text.encode() + b"\0", target, make_module_signatures(parse(text)), text)
    try:
        if level == "link":
            return compiled(text, target, verify=False, cache=False)
        module = parse(text)
        program = ptxas_program.select_ptxas(module, target)
        if program is None:
            if level != "3" or ptxas_program.has_setmaxnreg(module):
                return ptxas_program.explain_too_old(module, target)
            return compiled(text, target, verify=False, cache=False)  # nvJitLink has no other level
        code, log = ptxas_program.assemble_cubin(text, target, [f"-O{level}"], program)
    except DeviceError as error:
        return str(error)
    return (
        log if code is None else Cubin(code, target, make_module_signatures(module), text, log, compiler=str(program))
    )


def explain_missing_release(module: tree.Module, target: str) -> str:
    """Returns why no compiler here compiles PTX of the `.version` of a module to machine code, or an empty string."""
    known = [ptxas_program.newest_ptxas_version(target)]
    if not ptxas_program.has_setmaxnreg(module):
        known.append(newest_nvjitlink_version(target))
    wanted, newest = ptxas_program.version_of(module), max((each for each in known if each), default=None)
    if newest is None or wanted <= newest:
        return ""
    return f"needs PTX {wanted[0]}.{wanted[1]}; the newest compiler here knows {newest[0]}.{newest[1]}"


def launch_of(kernel: GeneratedKernel) -> DeviceLaunch:
    """Returns the launch of a generated kernel, with its inputs."""
    return DeviceLaunch(kernel.name, kernel.grid, kernel.block, (kernel.inputs(), kernel.outputs()))
