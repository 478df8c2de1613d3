"""A kept example, or one of a campaign, put to its oracle."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from random import Random

from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.testing import oracles
from ptxkit.testing.arrangements.kernel import Pipeline
from ptxkit.testing.arrangements.plan import Plan
from ptxkit.testing.examples import Example, ExampleError
from ptxkit.testing.litmus import assert_litmus, litmus_test
from ptxkit.testing.verdicts import assert_verdicts_agree


def ask(example: Example) -> None:
    """Asks the oracle; what it raises, it raises. ExampleError where there is no such oracle."""
    special = _SPECIAL.get(example.oracle)
    if special is not None:
        special(example)
        return
    oracle = _own(example.oracle)
    if oracle is None:
        raise ExampleError(f"there is no oracle {example.oracle!r}")
    takes_launch = {} if example.launch is None else {"launch": example.launch}
    oracle(*example.texts, **takes_launch, **example.options)


def _own(name: str) -> Callable[..., object] | None:
    """An oracle of ptxkit, or somebody's own: `package.module:function`."""
    if name in oracles.__all__:
        return getattr(oracles, name, None)
    module, _, function = name.partition(":")
    try:
        return getattr(import_module(module), function, None) if function else None
    except ImportError as error:
        raise ExampleError(f"the oracle {name!r} cannot be loaded: {error}") from error


def _verdicts(example: Example) -> None:
    """A pipeline is made again, since its fault is part of what is expected; another text has nothing but itself."""
    plan = example.options.get("plan")
    if plan is None:
        assert_verdicts_agree(example.texts[0], example.launch)
        return
    major, minor = example.options["version"]
    assert_verdicts_agree(Pipeline(Plan(**plan), (major, minor), example.options["fault"]))


def _litmus(example: Example) -> None:
    """What a program may do is not in its text, so it is made again."""
    assert_litmus(litmus_test(Random(example.options["chance"]).randrange))


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
    """Whether its text is all that is asked about: others are made again, or are one instruction already."""
    return not {"plan", "chance", "instruction"} & example.options.keys()


_SPECIAL: dict[str, Callable[[Example], None]] = {
    "assert_verdicts_agree": _verdicts,
    "assert_litmus": _litmus,
    "assert_reads_back": _reads_back,
    "assert_ptxas_agrees": _ptxas,
}
