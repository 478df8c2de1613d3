"""Calls the oracle of a saved example."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import cast

from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.testing.corpus.example_recipes import rebuild
from ptxkit.testing.corpus.examples import RECIPES_OPTION, Example, ExampleError
from ptxkit.testing.oracles import assertions

BUILT_IN: Mapping[str, str] = {
    "assert_lints": "oracles.assertions",
    "assert_litmus": "generators.litmus",
    "assert_machine_matches_device": "oracles.assertions",
    "assert_optimisation_invariant": "oracles.assertions",
    "assert_ptxas_agrees": "oracles.assertions",
    "assert_round_trips": "oracles.assertions",
    "assert_same_kernel": "oracles.assertions",
    "assert_stable_under_stress": "oracles.stress_assertion",
    "assert_survives": "oracles.assertions",
    "assert_verdicts_agree": "oracles.rules_vs_emulator",
    "on_machine": "oracles.assertions",
}
"""The oracles of ptxkit, each with the module of `ptxkit.testing` that defines it."""


def replay(example: Example, trusted: Collection[str] = ()) -> None:
    """Calls the oracle of an example in a folder, which another user may have written.

    The folder names the oracle, which is a function: only the oracles of ptxkit, and those that the caller names in
    `trusted`, are called. Raises ExampleError for any other, and the exceptions of the oracle.
    """
    if example.oracle not in (*BUILT_IN, *_SPECIAL_ORACLES, *trusted):
        how = (
            f"add `--oracle {example.oracle}` if you trust it" if ":" in example.oracle else "write package.module:NAME"
        )
        what = f"there is no oracle `{example.oracle}` in ptxkit, and no other is called unasked"
        raise ExampleError(what, how)
    run_oracle(example)


def run_oracle(example: Example) -> None:
    """Calls the oracle of an example, and passes its exceptions on. Raises ExampleError if the oracle does not exist.

    The oracle is any function that the example names, so the example must be one that this process made; see `replay`.
    """
    special = _SPECIAL_ORACLES.get(example.oracle)
    if special is not None:
        special(example)
        return
    oracle = _load_oracle(example.oracle)
    if RECIPES_OPTION in example.options:
        oracle(**_rebuild_arguments(example))
        return
    takes_launch = {} if example.launch is None else {"launch": example.launch}
    oracle(*example.texts, **takes_launch, **example.options)


def _load_oracle(name: str) -> Callable[..., object]:
    """Loads an oracle of ptxkit, or one of another package: `package.module:function`."""
    module, _, function = name.partition(":")
    if name in BUILT_IN:
        module, function = f"ptxkit.testing.{BUILT_IN[name]}", name
    try:
        found = getattr(import_module(module), function, None) if function else None
    except (ImportError, ValueError) as error:
        raise ExampleError(f"the oracle `{name}` cannot be loaded: {error}") from error
    if not callable(found):
        raise ExampleError(f"there is no oracle `{name}`")
    return cast("Callable[..., object]", found)


def _rebuild_arguments(example: Example) -> dict[str, object]:
    """Constructs the arguments of an oracle that cannot be stored as text only."""
    plain = {name: each for name, each in example.options.items() if name != RECIPES_OPTION}
    try:
        return {**plain, **{name: rebuild(recipe) for name, recipe in example.options[RECIPES_OPTION].items()}}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExampleError(f"the example cannot be made again: {error!r}") from error


def _assert_reads_back(example: Example) -> None:
    """Asserts the round trip of a text that is valid PTX."""
    try:
        parse(example.texts[0])
    except PTXSyntaxError:
        return
    assertions.assert_round_trips(example.texts[0])


def _assert_ptxas_agrees(example: Example) -> None:
    assertions.assert_ptxas_agrees(example.texts[0])


def can_minimize(example: Example) -> bool:
    """Returns whether the oracle depends on the text only.

    Other examples are constructed again, are a single instruction already, or are compared with a second text that must
    stay similar to the first.
    """
    return len(example.texts) == 1 and not {RECIPES_OPTION, "instruction"} & example.options.keys()


_SPECIAL_ORACLES: Mapping[str, Callable[[Example], None]] = {
    "assert_reads_back": _assert_reads_back,
    "assert_ptxas_agrees": _assert_ptxas_agrees,
}
