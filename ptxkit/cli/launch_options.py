"""The launch options that `run` and `verify` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ptxkit.cli.limits import MAX_LAUNCH_AXES
from ptxkit.cli.usage_errors import BadValueError, CommandLineError
from ptxkit.cli.value_types import WholeNumber
from ptxkit.verifier import ArgumentSpec, ArgumentSpecError, parse_argument

_Command = TypeVar("_Command", bound=Callable[..., Any])


def parse_shape(text: str) -> tuple[int, ...]:
    """One to three extents: `128`, `16x8` or `4,4,2`."""
    try:
        extents = tuple(int(each) for each in text.replace("x", ",").split(","))
    except ValueError:
        extents = ()
    if not 1 <= len(extents) <= MAX_LAUNCH_AXES or min(extents) < 1:
        raise BadValueError(f"`{text}` is not a shape", "write `128`, `16x8` or `4x4x2`")
    return extents


def parse_argument_option(text: str) -> tuple[str, ArgumentSpec]:
    """The parameter's name and what to pass: `NAME=VALUE`."""
    try:
        return parse_argument(text)
    except ArgumentSpecError as error:
        raise BadValueError.of(error) from error


def unique_arguments(arguments: tuple[tuple[str, ArgumentSpec], ...]) -> dict[str, ArgumentSpec]:
    """The arguments by parameter. Raises CommandLineError if a parameter has two."""
    given: dict[str, ArgumentSpec] = {}
    for name, value in arguments:
        if name in given:
            what = f"`--arg {name}` is given twice: `{given[name].text}` and `{value.text}`"
            raise CommandLineError(what, "write it once")
        given[name] = value
    return given


_OPTIONS = (
    click.option("--grid", type=parse_shape, metavar="SHAPE", help="Grid dimensions in CTAs: 2, 16x8 or 4x4x2."),
    click.option("--block", type=parse_shape, metavar="SHAPE", help="CTA dimensions in threads: 128 or 16x8."),
    click.option("--cluster", type=parse_shape, metavar="SHAPE", help="Cluster dimensions in CTAs."),
    click.option("--shared", type=WholeNumber(0), metavar="BYTES", help="Dynamic shared memory per CTA, in bytes."),
    click.option(
        "--arg",
        "arguments",
        type=parse_argument_option,
        metavar="NAME=VALUE",
        multiple=True,
        help="Value of a kernel parameter, by its name or its position (#0 is the first; repeatable). Scalars: n=37, "
        "a=0.5. Arrays: x=f32[1024]:random (or zeros, ones, iota), t=t.npy. Tensor maps: "
        "m=f16[64,64]:box=64x8:swizzle=128 (also steps, interleave, oob; lower, upper, channels, pixels for im2col). "
        "Table of two arrays or maps in memory: p=2*f32[64]. Textures: "
        "t=texture:f32[48,64]:random:filter=linear (also address, normalized, scaled, channels, layered, cube; "
        "likewise surface: and sampler:).",
    ),
)

LAUNCH_NAMES = ("--grid", "--block", "--cluster", "--shared", "--arg")
"""The options that `launch_options` adds."""


def launch_options(command: _Command) -> _Command:
    """Adds `--grid`, `--block`, `--cluster`, `--shared` and `--arg` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
