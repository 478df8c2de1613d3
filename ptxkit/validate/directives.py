"""Checks directives: their context, their combination with other directives, and their constants.

The rules are those of `grammars/isa/directives.isa`; this module defines the contexts in which a directive can be
written, and names no directives but those for which the grammar has separate rules.

Source: PTX ISA, "Directives".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache

from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import directive_helps, ptx1xx
from ptxkit.isa.module_forms import DirectiveForm
from ptxkit.isa.wording import clip_text, describe_immediates
from ptxkit.syntax.constants import parse_constant
from ptxkit.syntax.tree import Directive, Function, Prototype
from ptxkit.validate.constants import is_legal
from ptxkit.validate.gate_checker import GateChecker, module_forms
from ptxkit.validate.limits import MAX_U32
from ptxkit.validate.problem import Problem, WordLocation

_PLACES = {
    "heading": directive_helps.AT_HEAD(),
    "module": directive_helps.OUTSIDE_FUNCTIONS(),
    "variable": directive_helps.BEFORE_VARIABLE(),
    "global_variable": directive_helps.WITH_GLOBAL_VARIABLE(),
    "entry": directive_helps.IN_KERNEL_HEADER(),
    "entry_declaration": directive_helps.WITH_KERNEL_DECLARATION(),
    "func": directive_helps.WITH_FUNCTION(),
    "func_declaration": directive_helps.WITH_FUNCTION_DECLARATION(),
    "prototype": directive_helps.WITH_PROTOTYPE(),
    "kernel_parameter": directive_helps.WITH_KERNEL_PARAMETER(),
    "body": directive_helps.IN_FUNCTION_BODY(),
    "entry_body": directive_helps.IN_KERNEL_BODY(),
}

_ATTRIBUTE = r"\.([^(]+)(?:\(([^)]*)\))?"
_PRAGMA_SECTION = "Descriptions of .pragma Strings"


@cache
def directive_forms() -> dict[str, DirectiveForm]:
    """Returns the directives of the table by name."""
    return {each.name: each for each in module_forms().directives}


def directive_place(function: Function) -> str:
    """Returns the context of the directives of a function: `entry`, or `entry_declaration` if it has no body."""
    return function.kind if function.body is not None else f"{function.kind}_declaration"


def header_problems(function: Function, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in the linkage, the attributes and the directives of a function."""
    place = directive_place(function)
    yield from linkage_problems(function.linkage, place, start, gates)
    yield from attribute_problems(function.attributes, place, start, gates)
    yield from _check_group(function.directives, place, start, gates)
    if function.results and function.directive("noreturn") is not None:
        yield _never_returns(start)


def prototype_problems(prototype: Prototype, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in the directives of a call prototype."""
    yield from gates.check(directive_forms()["callprototype"].gates, "`.callprototype`", start, ".callprototype")
    yield from _check_group(prototype.directives, "prototype", start, gates)
    if prototype.results and any(each.name == "noreturn" for each in prototype.directives):
        yield _never_returns(start)


def _never_returns(start: int) -> Problem:
    message = ptx1xx.NORETURN_WITH_RESULTS()
    return Problem(message, WordLocation(start, ".noreturn"), help=directive_helps.REMOVE_NORETURN())


def linkage_problems(linkage: Sequence[str], place: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in `.extern`, `.visible`, `.weak` or `.common` before an item."""
    if len(linkage) > 1:
        message = ptx1xx.LINKAGES_EXCLUDE(first=linkage[0], second=linkage[1])
        nth = 1 if linkage[0] == linkage[1] else 0
        yield Problem(
            message,
            WordLocation(start, f".{linkage[1]}", nth),
            help=directive_helps.KEEP_ONE(),
            section="Linking Directives",
        )
    for word in linkage[:1]:
        yield from _check_directive(Directive(word), place, start, gates)


def attribute_problems(attributes: Sequence[str], place: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in the words of `.attribute(...)`."""
    if len(attributes) > 1 and not place.endswith("variable"):
        message = ptx1xx.SEVERAL_ATTRIBUTES()
        yield Problem(message, WordLocation(start, ".attribute"), help=directive_helps.KEEP_ONE_ATTRIBUTE())
    for written in attributes:
        match = re.fullmatch(_ATTRIBUTE, written)
        if match is not None:
            words = tuple(word.strip() for word in match[2].split(",")) if match[2] is not None else ()
            yield from _check_directive(Directive(match[1], words), place, start, gates)


def directive_problems(directive: Directive, place: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in a directive that is a statement or item. place: `module`, `entry_body` or `func_body`."""
    if directive.name == "pragma":
        yield from _check_pragma(directive, place, start, gates)
    elif directive.name in directive_forms() and directive.name != "address_size":
        yield from _check_directive(
            Directive(directive.name), "body" if place.endswith("body") else place, start, gates
        )


def _check_group(directives: Sequence[Directive], place: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Checks the directives after a header, separately and in combination."""
    names = [directive.name for directive in directives]
    for index, directive in enumerate(directives):
        if directive.name == "pragma" and place in ("entry", "func_declaration"):
            yield from _check_pragma(directive, "module" if place == "func_declaration" else place, start, gates)
            continue
        yield from _check_directive(directive, place, start, gates, names[:index].count(directive.name))
        form = directive_forms().get(directive.name)
        if form is None or place not in form.places:
            continue
        yield from _check_combination(form, place, names, index, start)


def _check_combination(
    form: DirectiveForm, place: str, names: Sequence[str], index: int, start: int
) -> Iterator[Problem]:
    word, earlier = f".{form.name}", names[:index]

    def finding(message: Message, help_: Message, severity: Severity = Severity.ERROR) -> Problem:
        nth = earlier.count(form.name)
        return Problem(
            message,
            WordLocation(start, word, nth),
            help=help_,
            severity=severity,
            section=form.section,
        )

    for other in form.excludes:
        if other in earlier:
            yield finding(
                ptx1xx.DIRECTIVES_EXCLUDE(word=word, other=other), directive_helps.REMOVE_EITHER(other=other, word=word)
            )
    if place in form.last and index + 1 < len(names):
        yield finding(ptx1xx.DIRECTIVE_AFTER_OTHERS(word=word), directive_helps.MOVE_AFTER(name=names[-1]))
    elif form.once and form.name in earlier:
        yield finding(ptx1xx.DIRECTIVE_TWICE(word=word), directive_helps.REMOVE_ONE())
    elif form.name in earlier:
        yield finding(ptx1xx.DIRECTIVE_TWICE_TOLERATED(word=word), directive_helps.KEEP_ONE(), Severity.WARNING)
    elif form.first and earlier:
        yield finding(ptx1xx.DIRECTIVE_BEFORE_OTHERS(word=word), directive_helps.MOVE_BEFORE(name=earlier[0]))
    missing = [f"`.{each}`" for each in form.companions if each not in names]
    if missing:
        needed = " and ".join(missing)
        yield finding(ptx1xx.DIRECTIVE_NEEDS_OTHER(word=word, needed=needed), directive_helps.ADD(needed=needed))
    if form.idle_without and form.name not in earlier and not any(each in names for each in form.idle_without):
        wanted = " or ".join(f"`.{each}`" for each in form.idle_without)
        yield finding(
            ptx1xx.DIRECTIVE_WITHOUT_EFFECT(word=word, needed=wanted),
            directive_helps.ADD_NEEDED(needed=wanted),
            Severity.WARNING,
        )


def _check_directive(
    directive: Directive, place: str, start: int, gates: GateChecker, nth: int = 0
) -> Iterator[Problem]:
    """Checks one directive: it is known, in a valid context, with valid constants, and allowed by version and
    target.
    """
    form = directive_forms().get(directive.name)
    word = f".{directive.name}"
    if form is None:
        yield _unknown_directive(directive.name, place, start)
    elif place not in form.places and not (place == "global_variable" and "variable" in form.places):
        allowed = " or ".join(str(_PLACES[each]) for each in form.places)
        message = ptx1xx.DIRECTIVE_IN_WRONG_PLACE(word=word, place=_PLACES[place])
        yield Problem(
            message,
            WordLocation(start, word, nth),
            help=directive_helps.ALLOWED_PLACES(places=allowed),
            section=form.section,
        )
    else:
        yield from gates.check(form.gates, f"`{word}`", start, word, form.section)
        wrong = _wrong_constants(form, directive.words) if place in _WITH_CONSTANTS else None
        if wrong is not None:
            text, severity = wrong
            message = ptx1xx.DIRECTIVE_ARGUMENTS_WRONG(word=word, reason=text)
            yield Problem(
                message,
                WordLocation(start, word, nth),
                help=_usage(form),
                severity=severity,
                section=form.section,
            )


_WITH_CONSTANTS = frozenset({"entry", "func", "func_declaration", "prototype", "global_variable"})


def _unknown_directive(name: str, place: str, start: int) -> Problem:
    known = [each.name for each in module_forms().directives if place in each.places]
    near = get_close_matches(name[:80], known, 1) or get_close_matches(name[:80], list(directive_forms()), 1)
    help_ = directive_helps.DID_YOU_MEAN_DIRECTIVE(name=near[0]) if near else None
    message = ptx1xx.NO_SUCH_DIRECTIVE(name=clip_text(name), place=_PLACES[place])
    return Problem(message, WordLocation(start, f".{name}"), help=help_, section="Directives")


def _usage(form: DirectiveForm) -> Message:
    """Returns `write .maxntid nx, ny, nz`, with optional parts in brackets."""
    roles = [f"[{each.role}]" if each.optional else each.role for each in form.arguments]
    if not roles:
        return directive_helps.WRITE_BARE_DIRECTIVE(name=form.name)
    return directive_helps.WRITE_DIRECTIVE(name=form.name, arguments=", ".join(roles))


def _wrong_constants(form: DirectiveForm, words: Sequence[str]) -> tuple[Message, Severity] | None:
    """Returns the error in the constants after a directive with its severity, or None."""
    least = sum(not each.optional for each in form.arguments)
    most = len(form.arguments)
    if not least <= len(words) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        if most == 0:
            return directive_helps.TAKES_NO_CONSTANTS(given=len(words)), Severity.ERROR
        template = directive_helps.TAKES_ONE_CONSTANT if most == 1 else directive_helps.TAKES_CONSTANTS
        return template(count=wanted, given=len(words)), Severity.ERROR
    cut: tuple[Message, Severity] | None = None
    for argument, word in zip(form.arguments, words, strict=False):
        value = parse_constant(word)
        if value is None:
            return directive_helps.TAKES_INTEGERS(word=clip_text(word)), Severity.ERROR
        if value > MAX_U32:
            # Constants of 2**63 and more are negative for an assembler, which reads 32 bits of them.
            is_cut = 1 << 63 <= value < 1 << 64 and is_legal(argument.immediates, value & MAX_U32)
            cut = (
                directive_helps.TAKES_32_BITS(word=clip_text(word)),
                Severity.WARNING if is_cut else Severity.ERROR,
            )
            if not is_cut:
                return cut
        elif not is_legal(argument.immediates, value):
            return directive_helps.TAKES_VALUES(
                values=describe_immediates(argument.immediates), word=clip_text(word)
            ), Severity.ERROR
    return cut


# ------------------------------------------------------------------------------------------------ pragmas


def _check_pragma(directive: Directive, place: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    yield from gates.check(directive_forms()["pragma"].gates, "`.pragma`", start, ".pragma", _PRAGMA_SECTION)
    for word in directive.words:
        text = word.strip('"')
        form = next((each for each in module_forms().pragmas if text.startswith(each.name)), None)
        if form is None:
            yield from _unknown_pragma(text, word, start)
            continue
        places = [each for each in form.places if each == place or (each == "body" and place.endswith("_body"))]
        if not places:
            allowed = " or ".join(str(_PLACES[each]) for each in form.places)
            message = ptx1xx.PRAGMA_IN_WRONG_PLACE(name=form.name)
            yield Problem(
                message,
                WordLocation(start, word),
                help=directive_helps.ALLOWED_PLACES(places=allowed),
                section=_PRAGMA_SECTION,
            )
        else:
            yield from gates.check(
                form.gates, directive_helps.NAMED_PRAGMA(name=form.name), start, word, _PRAGMA_SECTION
            )
            yield from _pragma_constant(form, text, word, start)


def _pragma_constant(form: DirectiveForm, text: str, word: str, start: int) -> Iterator[Problem]:
    for argument in form.arguments:
        rest = text.partition(" ")[2].strip()
        match = re.fullmatch(r"\+?(0[xX][0-9a-fA-F]+|[0-9]+)", rest)
        value = parse_constant(match[1]) if match is not None else None
        if value is None or not is_legal(argument.immediates, value):
            message = ptx1xx.PRAGMA_ARGUMENT_WRONG(
                name=form.name, values=describe_immediates(argument.immediates), value=clip_text(rest)
            )
            help_ = directive_helps.WRITE_PRAGMA(name=form.name, argument=argument.role)
            yield Problem(message, WordLocation(start, word), help=help_, section=_PRAGMA_SECTION)


def _unknown_pragma(text: str, word: str, start: int) -> Iterator[Problem]:
    name = text.partition(" ")[0]
    near = get_close_matches(name[:80], [each.name for each in module_forms().pragmas], 1)
    help_ = directive_helps.DID_YOU_MEAN_PRAGMA(name=near[0]) if near else None
    message = ptx1xx.PRAGMA_UNKNOWN(name=clip_text(name))
    yield Problem(
        message,
        WordLocation(start, word),
        help=help_,
        severity=Severity.NOTE,
        section=_PRAGMA_SECTION,
    )
