"""Lists of branch and call targets, which must name labels of the function, or functions.

Source: PTX ISA, "Control Flow Directives: .branchtargets", "Control Flow Directives: .calltargets".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.diagnostics.catalogue import declaration_helps, ptx1xx
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.symbols import BRANCH_TARGETS, ENTRY, FUNCTION, LABEL
from ptxkit.syntax.target_names import target_names
from ptxkit.syntax.tree import Body, Directive
from ptxkit.validate.name_problems import describe_class, undeclared_problem
from ptxkit.validate.problem import Problem
from ptxkit.validate.typed_scope import UNKNOWN, TypedScope

_KINDS = {
    "branchtargets": (
        frozenset({LABEL, BRANCH_TARGETS}),
        declaration_helps.BRANCH_TARGET_RULE(),
        declaration_helps.LIST_LABELS(),
        "Control Flow Directives: .branchtargets",
    ),
    "calltargets": (
        frozenset({FUNCTION, ENTRY}),
        declaration_helps.CALL_TARGET_RULE(),
        declaration_helps.LIST_FUNCTIONS(),
        "Control Flow Directives: .calltargets",
    ),
}


def list_problems(body: Body, scope: TypedScope) -> Iterator[tuple[Problem, int]]:
    """Yields the errors in the lists of a body, with the offset of each; lists in blocks inside are omitted."""
    for statement, start in body.with_offsets():
        if not isinstance(statement, Directive) or statement.name not in _KINDS:
            continue
        for word in statement.words:
            problems = (_target_problem(name, statement.name, scope) for name in target_names(word))
            problem = next((each for each in problems if each is not None), None)
            if problem is not None:
                yield problem, start


def _target_problem(name: str, directive: str, scope: TypedScope) -> Problem | None:
    allowed, rule, help_, section = _KINDS[directive]
    kind = scope.type_of(name)
    if kind == UNKNOWN:
        return undeclared_problem(name, scope)
    if kind in allowed:
        return None
    named = scope.find(name)
    related = (named, declaration_helps.DECLARED_HERE()) if named is not None else None
    message = ptx1xx.TARGET_OF_WRONG_KIND(rule=rule, name=clip_text(name), kind=describe_class(kind))
    return Problem(message, help=help_, related=related, section=section)
