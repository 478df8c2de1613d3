"""The options of a launch, which `run` and `verify` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ptxkit.verifier import Given, GivenError, given_argument

_Command = TypeVar("_Command", bound=Callable[..., Any])
_MOST_AXES = 3


def shape(text: str) -> tuple[int, ...]:
    """One to three extents: `128`, `16x8` or `4,4,2`."""
    try:
        extents = tuple(int(each) for each in text.replace("x", ",").split(","))
    except ValueError:
        extents = ()
    if not 1 <= len(extents) <= _MOST_AXES or min(extents) < 1:
        raise click.BadParameter(f"{text!r} is no shape: write 128, 16x8 or 4x4x2")
    return extents


def argument(text: str) -> tuple[str, Given]:
    """The parameter's name and what to pass: `NAME=VALUE`."""
    try:
        return given_argument(text)
    except GivenError as error:
        raise click.BadParameter(str(error)) from error


def given_once(arguments: tuple[tuple[str, Given], ...]) -> dict[str, Given]:
    """The arguments by parameter; UsageError where one is given twice."""
    given: dict[str, Given] = {}
    for name, value in arguments:
        if name in given:
            raise click.UsageError(f"--arg {name} is given twice: {given[name].text} and {value.text}")
        given[name] = value
    return given


_OPTIONS = (
    click.option("--grid", type=shape, metavar="SHAPE", help="CTAs: 2, 16x8 or 4x4x2."),
    click.option("--block", type=shape, metavar="SHAPE", help="Threads of a CTA: 128 or 16x8."),
    click.option("--cluster", type=shape, metavar="SHAPE", help="CTAs of a cluster."),
    click.option("--shared", type=click.IntRange(min=0), help="Bytes of dynamic shared memory."),
    click.option(
        "--arg",
        "arguments",
        type=argument,
        metavar="NAME=VALUE",
        multiple=True,
        help="A parameter by name, or #0 for the first: n=37, a=0.5, x=f32[1024]:random (zeros, ones, iota), t=t.npy, "
        "m=f16[64,64]:box=64x8:swizzle=128 (a tensor map; steps, interleave, oob, or lower, upper, channels, pixels), "
        "p=2*f32[64] (a table of two), t=texture:f32[48,64]:random:filter=linear:address=wrap:normalized=1 (scaled, "
        "channels, layered, cube; or surface: and sampler:).",
    ),
)


def launch_options(command: _Command) -> _Command:
    """Adds `--grid`, `--block`, `--cluster`, `--shared` and `--arg`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
