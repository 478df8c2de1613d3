"""A run of `ptxkit run` on the GPU of this computer, and the comparison with the reference machine."""

from __future__ import annotations

from statistics import median

import click
import numpy

from ptxkit.cli.device_errors import write_device_error
from ptxkit.cli.refusals import write_refusal
from ptxkit.cli.run_subject import RunSubject, warn_of_conditions, write_arrays
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.device import Cubin, DeviceError, target_for
from ptxkit.device import compile as compile_module
from ptxkit.device_runs import watched_launch
from ptxkit.device_runs.device_launch import DeviceLaunch, Outputs
from ptxkit.device_runs.device_process import HANGS
from ptxkit.device_runs.output_comparison import ArrayDifference, find_first_difference
from ptxkit.device_runs.unspecified_bits import unspecified_bits
from ptxkit.device_runs.watched_launch import WatchedLaunch, WatchedResult, launch_watched
from ptxkit.elf import ElfError
from ptxkit.emulator import RunResult, Sampler, Surface, Texture
from ptxkit.exit_status import ExitStatus
from ptxkit.syntax.tree import Directive, Module
from ptxkit.untrusted_text import escape_text
from ptxkit.verifier.parameter_names import display_names

_MICROSECONDS, _GIGA = 1e6, 1e9


def run_on_gpu(
    subject: RunSubject, mine: RunResult | None, status: ExitStatus, seconds: float, *, is_timed: bool
) -> ExitStatus:
    """Runs the kernel on the GPU, and compares its arrays with the machine's, or prints them. Returns the exit status.

    mine, status: the machine's result, if it ran. Raises CommandLineError.
    """
    for shown, value in zip(display_names(subject.kernel), subject.arguments, strict=True):
        if isinstance(value, Texture | Surface | Sampler):
            what = f"`--arg {shown}`: a {type(value).__name__.lower()} is an argument of the reference machine only"
            raise CommandLineError(what, "leave out `--on`")
    given = (subject.grid, subject.block, subject.arguments, subject.cluster, subject.shared)
    wanted = WatchedLaunch(DeviceLaunch(subject.kernel.name, *given), is_timed)
    if mine is None:
        warn_of_conditions(subject)
    try:
        answer = launch_watched(lambda gpu: _compile(subject.module, gpu), wanted, seconds, watched_launch.serve_launch)
    except (DeviceError, ElfError) as error:
        return ExitStatus(write_device_error(error, "leave out `--on`", subject.module))
    if isinstance(answer, str):
        name, reason = subject.kernel.name, _failure_text(answer)
        what = f"the kernel `{name}` did not run to completion on the GPU: {reason}; {_launch_text(subject)}"
        remedy = "run it on the reference machine, which names the access or the wait: `--on machine`"
        return ExitStatus(write_refusal(what, remedy))
    if mine is None:
        click.echo(answer.printed, nl=False)
    if is_timed:
        click.echo(_time_text(answer))
    if mine is None:
        write_arrays(subject, answer.outputs)
        return status
    difference = find_first_difference(mine.outputs, answer.outputs)
    if difference is None:
        return status
    write_refusal(_difference_text(subject, difference, mine.outputs), _explain_difference(subject))
    return ExitStatus.FINDINGS


def _compile(module: Module, gpu: str) -> Cubin:
    directives = (each for each in module.items if isinstance(each, Directive) and each.name == "target")
    target = target_for([word for each in directives for word in each.words], gpu)
    return compile_module(module, target, verify=False)


def _failure_text(answer: str) -> str:
    reason = answer.removeprefix(HANGS)
    return reason if reason == answer else f"{reason}, so its process was ended"


def _launch_text(subject: RunSubject) -> str:
    plan = subject.plan
    shared = f", {plan.shared} bytes of dynamic shared memory" if plan.shared else ""
    shapes = [("grid", plan.grid), ("block", plan.block), ("cluster", plan.cluster)]
    geometry = ", ".join(f"{name} {'x'.join(map(str, shape))}" for name, shape in shapes)
    return f"{geometry}{shared}; {', '.join(subject.texts) or 'no arguments'}"


def _time_text(answer: WatchedResult) -> str:
    """The median time of the launches, and the bytes of all arrays in that time."""
    size = sum(part.nbytes for each in answer.outputs.values() for part in (each if isinstance(each, list) else [each]))
    time = median(answer.seconds)
    rate = f", {size / time / _GIGA:.1f} GB/s" if time else ""
    launches = f"median of {len(answer.seconds)} launches: {time * _MICROSECONDS:.1f} us"
    return f"{launches}; {size:,} bytes (the sizes of all array arguments, each once){rate}"


def _difference_text(subject: RunSubject, found: ArrayDifference, outputs: Outputs) -> str:
    array = outputs[found.argument]
    if found.entry is not None:
        array = array[found.entry]
    index = ", ".join(map(str, numpy.unravel_index(found.flat_index, array.shape)))
    name = display_names(subject.kernel)[found.argument] + ("" if found.entry is None else f"[{found.entry}]")
    (left_bits, right_bits), values = found.bits, (found.left[0], found.right[0])
    return (
        f"`{name}` differs in {found.count} of {found.size} elements, first at [{index}]: {values[0]} ({left_bits}) on "
        f"the machine, {values[1]} ({right_bits}) on the GPU"
    )


def _explain_difference(subject: RunSubject) -> str:
    """States why results may differ, as far as it is known."""
    reason = unspecified_bits(str(subject.module))
    if reason:
        return f"the manual leaves bits of these results open: {escape_text(reason)}"
    return "a race is a likely reason: `ptxkit verify` runs the kernel with other schedules"
