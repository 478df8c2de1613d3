"""Records are dataclasses: each is compared with a standard one of the same definition."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from ptxkit import fast_dataclasses

Decorator = Callable[..., Callable[[type], Any]]


def samples(library: Any) -> dict[str, Any]:
    """Returns classes of the kinds that the project has, made by `dataclasses` or by `records`."""

    @library.dataclass(frozen=True, slots=True)
    class Plain:
        """Documented."""

        first: int
        second: str = "s"
        third: tuple[int, ...] = ()

        @property
        def doubled(self) -> int:
            return 2 * self.first

    @library.dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        start: int
        end: int

    @library.dataclass(frozen=True, slots=True)
    class Partial:
        name: str
        places: tuple[int, ...] = library.field(default=(), compare=False, repr=False)
        known: dict[str, int] = library.field(default_factory=dict)

    @library.dataclass(slots=True)
    class Changing:
        lines: list[str] = library.field(default_factory=list)
        count: int = 0

    @library.dataclass(frozen=True)
    class Open:
        path: str
        text: str = ""

    @library.dataclass(frozen=True, slots=True, eq=False)
    class Identity:
        name: str

    @library.dataclass(frozen=True, slots=True)
    class Empty:
        pass

    classes = (Plain, Ordered, Partial, Changing, Open, Identity, Empty)
    return {each.__name__: each for each in classes}


OURS, THEIRS = samples(fast_dataclasses), samples(dataclasses)

VALUES: dict[str, list[tuple[tuple[object, ...], dict[str, object]]]] = {
    "Plain": [((1,), {}), ((1, "t"), {}), ((2,), {"third": (3,)}), ((1,), {"second": "t"})],
    "Ordered": [((1, 2), {}), ((1, 3), {}), ((0, 9), {}), ((1, 2), {})],
    "Partial": [(("n",), {}), (("n", (1,)), {}), (("n",), {"known": {"a": 1}})],
    "Changing": [((), {}), ((["a"],), {}), ((), {"count": 2})],
    "Open": [(("p",), {}), (("p", "t"), {})],
    "Identity": [(("a",), {}), (("a",), {})],
    "Empty": [((), {}), ((), {})],
}


def pairs(name: str) -> list[tuple[Any, Any]]:
    return [(OURS[name](*args, **named), THEIRS[name](*args, **named)) for args, named in VALUES[name]]


@pytest.mark.parametrize("name", VALUES)
def test_records_have_the_values_text_and_fields_of_dataclasses(name: str) -> None:
    for ours, theirs in pairs(name):
        assert repr(ours) == repr(theirs)
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        assert dataclasses.is_dataclass(ours)
        for left, right in zip(dataclasses.fields(ours), dataclasses.fields(theirs), strict=True):
            assert (left.name, left.type, left.default, left.default_factory, left.compare, left.repr) == (
                (right.name, right.type, right.default, right.default_factory, right.compare, right.repr)
            )


@pytest.mark.parametrize("name", VALUES)
def test_fields_have_the_properties_of_those_of_dataclasses(name: str) -> None:
    ours, theirs = OURS[name], THEIRS[name]
    assert [(each.name, each.type) for each in fast_dataclasses.fields(ours)] == [
        (each.name, each.type) for each in dataclasses.fields(theirs)
    ]
    for our_field, their_field in zip(fast_dataclasses.fields(ours), dataclasses.fields(theirs), strict=True):
        assert (our_field.default is fast_dataclasses.MISSING) == (their_field.default is dataclasses.MISSING)
        assert (our_field.default_factory is fast_dataclasses.MISSING) == (
            their_field.default_factory is dataclasses.MISSING
        )


@pytest.mark.parametrize("name", VALUES)
def test_records_compare_and_hash_like_dataclasses(name: str) -> None:
    for ours, theirs in pairs(name):
        for our_other, their_other in pairs(name):
            assert (ours == our_other) == (theirs == their_other)
            assert ours != theirs
        assert (type(ours).__hash__ is None) == (type(theirs).__hash__ is None)
        same = pairs(name)
        if name not in ("Partial", "Changing"):
            assert (ours in {each for each, _ in same}) == (theirs in {each for _, each in same})


def test_ordered_records_sort_like_dataclasses() -> None:
    ours, theirs = zip(*pairs("Ordered"), strict=True)
    assert list(map(repr, sorted(ours))) == list(map(repr, sorted(theirs)))
    assert ours[0] <= ours[3]
    assert not ours[0] < ours[3]
    with pytest.raises(TypeError):
        assert ours[0] < 3


@pytest.mark.parametrize("name", VALUES)
def test_records_are_called_and_matched_like_dataclasses(name: str) -> None:
    assert str(inspect.signature(OURS[name])) == str(inspect.signature(THEIRS[name]))
    assert OURS[name].__match_args__ == THEIRS[name].__match_args__
    assert OURS[name].__doc__ in (THEIRS[name].__doc__, None)
    with pytest.raises(TypeError):
        OURS[name](1, 2, 3, 4)
    with pytest.raises(TypeError):
        OURS[name](nonsense=1)


def test_a_frozen_record_cannot_be_changed_and_another_can() -> None:
    frozen = OURS["Plain"](1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'first'"):
        frozen.first = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
        del frozen.first
    changing = OURS["Changing"]()
    changing.count = 3
    assert changing == OURS["Changing"]([], 3)


def test_default_factories_are_called_for_each_record() -> None:
    first, second = OURS["Changing"](), OURS["Changing"]()
    first.lines.append("x")
    assert second.lines == []


def test_replace_changes_the_fields_named() -> None:
    record = OURS["Plain"](1, "t")
    for replace in (fast_dataclasses.replace, dataclasses.replace):
        assert replace(record, first=5) == OURS["Plain"](5, "t")
        with pytest.raises(TypeError):
            replace(record, nonsense=5)


def test_slots_contain_no_more_than_the_fields() -> None:
    assert not hasattr(OURS["Plain"](1), "__dict__")
    assert OURS["Plain"](4).doubled == 8
    assert vars(OURS["Open"]("p")) == {"path": "p", "text": ""}


@fast_dataclasses.dataclass(frozen=True, slots=True)
class Traveling:
    name: str
    place: int = 0


def test_records_are_copied_and_pickled() -> None:
    record = Traveling("n", 3)
    assert pickle.loads(pickle.dumps(record)) == copy.copy(record) == copy.deepcopy(record) == record


@fast_dataclasses.dataclass(frozen=True, slots=True)
class OwnMethods:
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnMethods) and self.name.lower() == other.name.lower()

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "own"


def test_a_method_that_a_class_defines_is_kept() -> None:
    assert OwnMethods("a") == OwnMethods("A")
    assert repr(OwnMethods("a")) == "own"
    assert hash(OwnMethods("a")) == 7


def test_a_record_does_not_inherit_fields_silently() -> None:
    with pytest.raises(TypeError, match="cannot inherit"):

        @fast_dataclasses.dataclass(frozen=True)
        class Child(OURS["Open"]):  # type: ignore[misc]
            more: int = 0
