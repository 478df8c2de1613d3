"""Dataclasses that are created faster: most modules that a command imports at its start define classes of plain data.

The names are those of `dataclasses` as far as this project uses them, and a type checker sees those. The standard
decorator compiles six functions for each class, which took a third of the time of `ptxkit lint`; here each is compiled
when it is first called. `dataclasses.fields`, `replace` and `is_dataclass` support these classes like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little

__all__ = ["MISSING", "Field", "dataclass", "field", "fields", "replace"]


class _Missing:
    """A missing default; in a signature, the default that a factory makes, printed as `dataclasses` does."""

    def __repr__(self) -> str:
        return "<factory>"


_MISSING: Any = _Missing()


class _Field:
    """The arguments of `field()`, and the name; `type` is the annotation as written."""

    __slots__ = ("compare", "default", "default_factory", "name", "repr", "type")

    def __init__(
        self, default: object, factory: Callable[[], object], compare: bool = True, shown: bool = True
    ) -> None:
        self.default, self.default_factory, self.compare, self.repr = default, factory, compare, shown
        self.name = self.type = ""


def _field(
    *,
    default: object = _MISSING,
    default_factory: Callable[[], object] = _MISSING,
    compare: bool = True,
    repr: bool = True,  # noqa: A002 (its name in `dataclasses.field`)
) -> _Field:
    return _Field(default, default_factory, compare, repr)


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> Callable[[type], type]:
    methods: dict[str, object] = {"__init__": _LazyConstructor(frozen=frozen, slots=slots), **_COMMON}
    if eq:
        methods |= {"__eq__": _EQUAL, "__hash__": _HASH if frozen else None}
    if order:
        methods |= _ORDER
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    return lambda cls: _rebuild_class(cls, _collect_fields(cls), methods, slots=slots)


def _replace(record: Any, /, **changes: object) -> Any:
    for name in record.__match_args__:
        if name not in changes:
            changes[name] = getattr(record, name)
    return type(record)(**changes)


def _fields_of(record: Any) -> tuple[_Field, ...]:
    return tuple(record.__record_fields__.values())


def _collect_fields(cls: type) -> dict[str, _Field]:
    if any("__record_fields__" in vars(base) for base in cls.__mro__[1:]):
        raise TypeError(f"{cls.__name__} cannot inherit the fields of a record; use dataclasses.dataclass")
    fields = {}
    members = vars(cls)
    for name, annotation in members.get("__annotations__", {}).items():
        if not annotation.startswith("ClassVar"):
            value = members.get(name, _MISSING)
            each = value if isinstance(value, _Field) else _Field(value, _MISSING)
            each.name, each.type = name, annotation
            fields[name] = each
    return fields


def _rebuild_class(cls: type, fields: Mapping[str, _Field], methods: Mapping[str, object], *, slots: bool) -> type:
    """Returns the class with these methods, or a new one, because slots can only be given when a class is created."""
    own = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    if own.get("__hash__", _MISSING) is None:  # Python's own, because the class defines __eq__
        del own["__hash__"]
    for name, each in fields.items():
        own.pop(name, None)
        if not slots and each.default is not _MISSING:
            own[name] = each.default
    members = {**methods, **own, "__record_fields__": fields, "__match_args__": tuple(fields)}
    if slots:
        members["__slots__"] = tuple(fields)
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    return made


class _LazyMethod:
    """A method that is compiled when it is first looked up in a class, where it then replaces this object."""

    def __init__(self, name: str, body: Callable[[Any], str], parameters: str = "self") -> None:
        self._name, self._body, self._parameters = name, body, parameters

    def __get__(self, record: object, cls: Any) -> Any:
        owner = next((each for each in cls.__mro__ if vars(each).get(self._name) is self), None)
        if owner is not None:  # otherwise another thread has replaced it
            setattr(owner, self._name, self._build(owner))
        made = getattr(cls, self._name)
        return made if record is None else made.__get__(record, cls)

    def _build(self, cls: Any) -> object:
        return self._compile(cls, self._parameters, self._body(cls), {})

    def _compile(self, cls: Any, parameters: str, body: str, known: Mapping[str, object]) -> Any:
        text = f"def outer({', '.join(known)}):\n def {self._name}({parameters}):\n  {body}\n return {self._name}"
        scope: dict[str, Any] = {}
        exec(text, vars(sys.modules[cls.__module__]), scope)
        made = scope["outer"](**known)
        made.__qualname__ = f"{cls.__qualname__}.{self._name}"
        return made


class _LazyConstructor(_LazyMethod):
    """`__init__`. For a frozen record it sets the slots directly, because `object.__setattr__` takes twice as long."""

    def __init__(self, *, frozen: bool, slots: bool) -> None:
        super().__init__("__init__", lambda _: "")
        self._frozen, self._slots = frozen, slots

    def _build(self, cls: Any) -> object:
        known: dict[str, object] = {"missing_": _MISSING}
        parameters, body = ["self"], ["pass"]
        for name, each in cls.__record_fields__.items():
            value = name
            if each.default is not _MISSING:
                known[f"default_{name}"] = each.default
                parameters.append(f"{name}=default_{name}")
            elif each.default_factory is not _MISSING:
                known[f"make_{name}"] = each.default_factory
                parameters.append(f"{name}=missing_")
                value = f"make_{name}() if {name} is missing_ else {name}"
            else:
                parameters.append(name)
            if not self._frozen:
                body.append(f"self.{name} = {value}")
            elif self._slots:
                known[f"set_{name}"] = vars(cls)[name].__set__
                body.append(f"set_{name}(self, {value})")
            else:
                body.append(f"self.__dict__[{name!r}] = {value}")
        made = self._compile(cls, ", ".join(parameters), "\n  ".join(body), known)
        made.__annotations__ = {name: each.type for name, each in cls.__record_fields__.items()} | {"return": None}
        return made


class _LazyStandardFields:
    """`__dataclass_fields__`, by which `dataclasses` recognizes its classes; created on first use."""

    def __get__(self, record: object, cls: Any) -> object:
        import dataclasses

        described = []
        for name, each in cls.__record_fields__.items():
            given: dict[str, Any] = {"compare": each.compare, "repr": each.repr}
            if each.default is not _MISSING:
                given["default"] = each.default
            elif each.default_factory is not _MISSING:
                given["default_factory"] = each.default_factory
            described.append((name, each.type, dataclasses.field(**given)))
        made: Any = dataclasses.make_dataclass(cls.__name__, described)
        cls.__dataclass_fields__ = made.__dataclass_fields__
        return cls.__dataclass_fields__


def _field_tuple(cls: Any, record: str) -> str:
    """Returns `(self.a, self.b, )`, which distinguishes one record from another."""
    return f"({''.join(f'{record}.{name}, ' for name, each in cls.__record_fields__.items() if each.compare)})"


def _comparison(name: str, sign: str) -> _LazyMethod:
    def body(cls: Any) -> str:
        both = f"{_field_tuple(cls, 'self')} {sign} {_field_tuple(cls, 'other')}"
        return f"return {both} if other.__class__ is self.__class__ else NotImplemented"

    return _LazyMethod(name, body, "self, other")


def _hash_body(cls: Any) -> str:
    return f"return hash({_field_tuple(cls, 'self')})"


def _repr_body(cls: Any) -> str:
    shown = ", ".join(f"{name}={{self.{name}!r}}" for name, each in cls.__record_fields__.items() if each.repr)
    return f'return f"{{self.__class__.__qualname__}}({shown})"'


def _state(self: Any) -> list[object]:
    return [getattr(self, name) for name in self.__match_args__]


def _set_state(self: Any, state: Iterable[object]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)


def _refuse_to_set(_: object, name: str, __: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


_EQUAL = _comparison("__eq__", "==")
_HASH = _LazyMethod("__hash__", _hash_body)
_ORDER = {
    name: _comparison(name, sign)
    for name, sign in (("__lt__", "<"), ("__le__", "<="), ("__gt__", ">"), ("__ge__", ">="))
}
_COMMON = {
    "__repr__": _LazyMethod("__repr__", _repr_body),
    "__dataclass_fields__": _LazyStandardFields(),
    "__getstate__": _state,
    "__setstate__": _set_state,
}

if TYPE_CHECKING:
    from dataclasses import MISSING, Field, dataclass, field, fields, replace
    from typing import Any
else:
    MISSING, Field, dataclass, field, fields, replace = _MISSING, _Field, _dataclass, _field, _fields_of, _replace
