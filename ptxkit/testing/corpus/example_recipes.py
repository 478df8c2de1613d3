"""Recipes: examples that cannot be stored as text only, as plain data from which they are constructed again.

The PTX of a broken pipeline does not contain its fault, and that of a litmus test not its allowed outcomes. So such an
example is stored as the choices that made it: `{"class": "Pipeline", "fields": {...}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptxkit.fast_dataclasses import fields
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline
from ptxkit.testing.pipelines.plan import PipelinePlan
from ptxkit.testing.generators.litmus import Litmus
from ptxkit.testing.oracles.litmus_programs import LitmusProgram, ModelEvent

_RECORDED_CLASSES = (GeneratedPipeline, Litmus)
"""The classes of arguments of oracles that have recipes."""

_CLASSES: Mapping[str, type[Any]] = {
    each.__name__: each for each in (*_RECORDED_CLASSES, PipelinePlan, LitmusProgram, ModelEvent)
}


def recipe_of(value: object) -> dict[str, Any] | None:
    """Returns the recipe of an argument of an oracle, or None if its text is sufficient."""
    return _encode(value) if isinstance(value, _RECORDED_CLASSES) else None


def rebuild(recipe: Mapping[str, Any]) -> Any:
    """Constructs the argument of a recipe. Raises ValueError, KeyError or TypeError for an invalid recipe."""
    return _decode(recipe)


def _encode(value: Any) -> Any:
    if type(value).__name__ in _CLASSES:
        return {
            "class": type(value).__name__,
            "fields": {each.name: _encode(getattr(value, each.name)) for each in fields(type(value))},
        }
    return [_encode(each) for each in value] if isinstance(value, tuple) else value


def _decode(recipe: Any) -> Any:
    match recipe:
        case {"class": name, "fields": values}:
            return _CLASSES[name](**{key: _decode(value) for key, value in values.items()})
        case list():
            return tuple(_decode(each) for each in recipe)
        case None | bool() | int() | float() | str():
            return recipe
    raise ValueError(f"a part of a recipe is {recipe!r}")
