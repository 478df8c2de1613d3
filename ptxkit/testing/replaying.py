"""A kept example, or one of a campaign, put to its oracle."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import ptxkit.testing
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.testing import oracles
from ptxkit.testing.examples import MADE, Example, ExampleError
from ptxkit.testing.recipes import made_of


def ask(example: Example) -> None:
    """Asks the oracle; what it raises, it raises. ExampleError where there is no such oracle."""
    special = _SPECIAL.get(example.oracle)
    if special is not None:
        special(example)
        return
    oracle = _own(example.oracle)
    if oracle is None:
        raise ExampleError(f"there is no oracle {example.oracle!r}")
    if MADE in example.options:
        oracle(**_arguments(example))
        return
    takes_launch = {} if example.launch is None else {"launch": example.launch}
    oracle(*example.texts, **takes_launch, **example.options)


def _own(name: str) -> Callable[..., object] | None:
    """An oracle of ptxkit, or somebody's own: `package.module:function`."""
    for known in (oracles, ptxkit.testing):
        if name in known.__all__:
            return getattr(known, name, None)
    module, _, function = name.partition(":")
    try:
        return getattr(import_module(module), function, None) if function else None
    except ImportError as error:
        raise ExampleError(f"the oracle {name!r} cannot be loaded: {error}") from error


def _arguments(example: Example) -> dict[str, object]:
    """What an oracle is given that is told more than a text: it is made again."""
    plain = {name: each for name, each in example.options.items() if name != MADE}
    try:
        return {**plain, **{name: made_of(recipe) for name, recipe in example.options[MADE].items()}}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExampleError(f"the example cannot be made again: {error!r}") from error


def _reads_back(example: Example) -> None:
    """What is no PTX has nothing to read back."""
    try:
        parse(example.texts[0])
    except PTXSyntaxError:
        return
    oracles.assert_round_trips(example.texts[0])


def _ptxas(example: Example) -> None:
    oracles.assert_ptxas_agrees(example.texts[0])


def can_be_smaller(example: Example) -> bool:
    """Whether its text is all that is asked about: others are made again, are one instruction already, or are compared
    with a second text, which must stay like the first."""
    return len(example.texts) == 1 and not {MADE, "instruction"} & example.options.keys()


_SPECIAL: dict[str, Callable[[Example], None]] = {
    "assert_reads_back": _reads_back,
    "assert_ptxas_agrees": _ptxas,
}
