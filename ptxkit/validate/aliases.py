"""`.alias`: a second name for a device function.

Source: PTX ISA, "Kernel and Function Directives: .alias"; the functions that can have an alias are those of ptxas.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import directive_helps, ptx1xx
from ptxkit.isa.wording import clip_text
from ptxkit.syntax.tree import Directive, Function
from ptxkit.validate.problem import Problem, WordLocation
from ptxkit.validate.redeclarations import prototype_difference
from ptxkit.validate.typed_scope import TypedScope

_SECTION = "Kernel and Function Directives: .alias"


class AliasChecker:
    """Checks aliases, and records their names."""

    def __init__(self) -> None:
        self._aliases: dict[str, str] = {}

    def check(self, directive: Directive, start: int, scope: TypedScope) -> Iterator[Problem]:
        """Yields the errors in `.alias name, function;`. scope: the names that are declared before it."""
        name, aliased = directive.words
        for word in dict.fromkeys((name, aliased)):
            wrong = _missing_function(word, scope)
            if wrong is not None:
                message, help_ = wrong
                yield Problem(message, WordLocation(start, word), help=help_, section=_SECTION)
                return
        first, second = _function(name, scope), _function(aliased, scope)
        if first is None or second is None:
            return
        found = self._find_conflict(name, aliased, first, second)
        if found is not None:
            yield Problem(found, WordLocation(start, name), section=_SECTION)
        self._aliases.setdefault(name, aliased)

    def _find_conflict(self, name: str, aliased: str, first: Function, second: Function) -> Message | None:
        if name == aliased:
            return ptx1xx.ALIAS_OF_ITSELF(name=clip_text(name))
        if first.body is not None:
            return ptx1xx.ALIAS_HAS_BODY(name=clip_text(name))
        if name in self._aliases:
            return ptx1xx.ALIAS_DEFINED_TWICE(name=clip_text(name), aliased=clip_text(self._aliases[name]))
        closed = next((word for word in second.linkage if word in ("weak", "extern")), None)
        if closed is not None:
            return ptx1xx.ALIASED_HAS_NO_ALIAS(aliased=clip_text(aliased), directive=closed)
        differs = prototype_difference(first, second)
        return (
            None
            if differs is None
            else ptx1xx.ALIAS_DIFFERS(aliased=clip_text(aliased), name=clip_text(name), difference=differs)
        )


def _function(name: str, scope: TypedScope) -> Function | None:
    found = scope.find(name)
    return found.node if found is not None and isinstance(found.node, Function) else None


def _missing_function(name: str, scope: TypedScope) -> tuple[Message, Message] | None:
    """Returns why a name is not that of a declared device function, and the remedy, or None."""
    found = scope.find(name)
    if found is None:
        near = get_close_matches(name[:80], list(dict.fromkeys(scope.visible_names())), 1)
        help_ = (
            directive_helps.DID_YOU_MEAN(name=clip_text(near[0]))
            if near
            else directive_helps.ADD_FUNCTION(name=clip_text(name))
        )
        return ptx1xx.ALIASED_NOT_DECLARED(name=clip_text(name)), help_
    if not isinstance(found.node, Function):
        return ptx1xx.ALIASED_IS_NO_FUNCTION(name=clip_text(name)), directive_helps.USE_OWN_NAME()
    if found.node.kind == "entry":
        return ptx1xx.ALIASED_IS_KERNEL(name=clip_text(name)), directive_helps.CALL_SHARED_FUNCTION()
    return None
