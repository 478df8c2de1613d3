"""`.alias`: a second name for a device function.

Source: PTX ISA, "Kernel and Function Directives: .alias"; which functions can have one is as ptxas has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ptxkit.isa.wording import clip_text
from ptxkit.syntax.tree import Directive, Function
from ptxkit.validate.redeclarations import prototype_difference
from ptxkit.validate.scopes import NameScope
from ptxkit.validate.statement_problem import StatementProblem

_SECTION = "Kernel and Function Directives: .alias"


class AliasChecker:
    """Remembers which names are aliases already."""

    def __init__(self) -> None:
        self._aliases: dict[str, str] = {}

    def check(self, directive: Directive, start: int, scope: NameScope) -> Iterator[StatementProblem]:
        """What is wrong with `.alias name, function;`. scope: the names that are declared above it."""
        name, aliased = directive.words
        for word in dict.fromkeys((name, aliased)):
            wrong = _missing_function(word, scope)
            if wrong is not None:
                message, help_ = wrong
                yield StatementProblem("PTX107", message, start, word, help=help_, section=_SECTION)
                return
        first, second = _function(name, scope), _function(aliased, scope)
        if first is None or second is None:
            return
        found = self._find_conflict(name, aliased, first, second)
        if found is not None:
            yield StatementProblem("PTX107", found, start, name, section=_SECTION)
        self._aliases.setdefault(name, aliased)

    def _find_conflict(self, name: str, aliased: str, first: Function, second: Function) -> str | None:
        if name == aliased:
            return f"`{clip_text(name)}` cannot be an alias of itself"
        if first.body is not None:
            return f"`{clip_text(name)}` has a body, and cannot be an alias as well"
        if name in self._aliases:
            return f"`{clip_text(name)}` is an alias already, of `{clip_text(self._aliases[name])}`"
        closed = next((word for word in second.linkage if word in ("weak", "extern")), None)
        if closed is not None:
            return f"`{clip_text(aliased)}` is `.{closed}`, and can have no alias"
        differs = prototype_difference(first, second)
        return (
            None if differs is None else f"`{clip_text(aliased)}` differs from its alias `{clip_text(name)}`: {differs}"
        )


def _function(name: str, scope: NameScope) -> Function | None:
    found = scope.find(name)
    return found.node if found is not None and isinstance(found.node, Function) else None


def _missing_function(name: str, scope: NameScope) -> tuple[str, str] | None:
    """Why a name is that of no device function declared so far, and what to do."""
    found = scope.find(name)
    if found is None:
        near = get_close_matches(name[:80], list(dict.fromkeys(scope.visible_names())), 1)
        help_ = f"did you mean `{clip_text(near[0])}`?" if near else f"add `.func {clip_text(name)};` above this line"
        return f"`{clip_text(name)}` is not declared above this line", help_
    if not isinstance(found.node, Function):
        return f"`{clip_text(name)}` is no function: only functions have aliases", "use the variable's own name"
    if found.node.kind == "entry":
        return f"`{clip_text(name)}` is a kernel: only device functions have aliases", "call a `.func` of both kernels"
    return None
