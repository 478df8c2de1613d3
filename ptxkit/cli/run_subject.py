"""What `ptxkit run` runs, and what both sides of it print."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy

from ptxkit.cli.launch_check import find_broken_conditions
from ptxkit.cli.limits import MAX_SHOWN_ELEMENTS
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.fast_dataclasses import dataclass
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile
from ptxkit.syntax.tree import Function, Module
from ptxkit.untrusted_text import escape_text
from ptxkit.verifier.launch_inference import LaunchPlan, find_declared_extents
from ptxkit.verifier.parameter_names import parameter_names


@dataclass(frozen=True, slots=True)
class RunSubject:
    """What is run. written: the module as it is in the file; module: with the settings' headings and launches.

    grid, block, cluster: as they were given. shared: bytes of dynamic shared memory. arguments: by parameter; texts: as
    they were written. kept: the arrays to print (None) or to save, by the parameter's number.
    """

    source: SourceFile
    settings: Settings
    written: Module
    module: Module
    kernel: Function
    grid: tuple[int, ...]
    block: tuple[int, ...] | None
    cluster: tuple[int, ...] | None
    shared: int
    arguments: tuple[Any, ...]
    texts: tuple[str, ...]
    kept: Mapping[int, Path | None]

    @property
    def plan(self) -> LaunchPlan:
        """The geometry with what the kernel declares."""
        threads = self.block or find_declared_extents(self.kernel, "reqntid") or (1,)
        ctas = self.cluster or find_declared_extents(self.kernel, "reqnctapercluster") or (1,)
        return LaunchPlan(self.grid, threads, ctas, self.shared, is_specified=True)


def warn_of_conditions(subject: RunSubject) -> None:
    """Prints the conditions of the kernel's contract that the launch does not satisfy."""
    for condition in find_broken_conditions(
        subject.module,
        subject.kernel,
        block=subject.block,
        cluster=subject.cluster,
        shared=subject.shared,
        arguments=subject.arguments,
    ):
        click.echo(f"ptxkit: warning: {escape_text(condition)}", err=True)


def write_arrays(subject: RunSubject, outputs: Mapping[int, Any]) -> None:
    """Prints or saves the requested arrays. Raises CommandLineError."""
    for number, file in subject.kept.items():
        if number not in outputs:
            what = f"`--out`: the argument of `{parameter_names(subject.kernel)[number]}` is not an array"
            raise CommandLineError(what, "name a parameter that is given an array")
        array = numpy.asarray(outputs[number])  # the arrays of a table have one shape, and follow each other
        if file is None:
            click.echo(numpy.array2string(array, threshold=MAX_SHOWN_ELEMENTS))
            continue
        try:
            numpy.save(file, array)
        except OSError as error:
            what = f"`--out`: the file `{file}` cannot be written: {error.strerror}"
            raise CommandLineError(what, "name another file") from error
