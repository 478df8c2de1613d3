"""Checks the heading of a module: `.version`, `.target` and `.address_size`, and their combination.

Source: PTX ISA, "PTX Module Directives: .version", ".target", ".address_size"; the known versions and targets with
their requirements are in `grammars/isa/directives.isa`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import directive_helps, ptx1xx, ptx8xx
from ptxkit.isa.targets import canonical_target, parse_target
from ptxkit.isa.wording import clip_text, describe_immediates
from ptxkit.syntax.constants import parse_constant
from ptxkit.syntax.tree import Declaration, Directive, Module
from ptxkit.validate.constants import is_legal
from ptxkit.validate.gate_checker import GateChecker, module_forms
from ptxkit.validate.problem import Problem, WordLocation

_VERSION = r"([0-9]+)\.([0-9]+)"
_VERSION_SECTION = "PTX Module Directives: .version"
_TARGET_SECTION = "PTX Module Directives: .target"
_SIZE_SECTION = "PTX Module Directives: .address_size"
_UNSUPPORTED_SIZE = 32


def heading_problems(module: Module, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in the directives at the beginning of a module, or missing there."""
    options: list[str] = []
    may_follow = {"version": ("version",), "target": ("version", "target"), "address_size": ("target",)}
    previous = "version"
    has_content = any(not (isinstance(item, Directive) and item.name in may_follow) for item in module.items)
    for item, start in module.with_offsets():
        name = item.name if isinstance(item, Directive) else ""
        if name in may_follow and previous not in may_follow[name]:
            yield _misplaced_directive(name, start)
        elif name == "version":
            yield from _check_version(item.words[0], start)  # type: ignore[union-attr]
        elif name == "target":
            yield from _check_targets(item, start, options, gates, has_content=has_content)  # type: ignore[arg-type]
        elif name == "address_size":
            yield from _address_size(item.words[0], start, gates)  # type: ignore[union-attr]
        previous = name
    if "debug" in options and not any(type(item).__name__ == "Section" for item in module.items):
        message = ptx1xx.DEBUG_TARGET_WITHOUT_SECTIONS()
        help_ = directive_helps.REMOVE_DEBUG()
        yield Problem(
            message,
            WordLocation(_start_of(module, "target"), "debug"),
            help=help_,
            section=_TARGET_SECTION,
        )


def texture_mode(module: Module) -> str:
    """Returns `texmode_unified`, the default, or `texmode_independent`."""
    words = {
        word for item in module.items if isinstance(item, Directive) and item.name == "target" for word in item.words
    }
    return "texmode_independent" if "texmode_independent" in words else "texmode_unified"


def sampler_problems(declaration: Declaration, mode: str, start: int) -> Iterator[Problem]:
    """Yields the finding for a sampler if textures have their own."""
    if declaration.type != "samplerref" or mode != "texmode_unified":
        return
    message = ptx1xx.SAMPLER_NEEDS_INDEPENDENT_MODE()
    # Assemblers do not require it for an array.
    severity = Severity.WARNING if all(each.dimensions for each in declaration.declarators) else Severity.ERROR
    yield Problem(
        message,
        WordLocation(start, ".samplerref"),
        help=directive_helps.WRITE_INDEPENDENT_MODE(),
        severity=severity,
        section="Texture Sampler and Surface Types",
    )


def _start_of(module: Module, name: str) -> int:
    return next(start for item, start in module.with_offsets() if isinstance(item, Directive) and item.name == name)


def _misplaced_directive(name: str, start: int) -> Problem:
    places = {"version": directive_helps.FIRST_IN_MODULE, "target": directive_helps.RIGHT_AFTER_VERSION}
    where = places.get(name, directive_helps.ONCE_AFTER_TARGET)()
    help_ = directive_helps.MOVE_TO_HEAD()
    return Problem(
        ptx1xx.HEADING_IN_WRONG_PLACE(name=name, place=where),
        WordLocation(start, f".{name}"),
        help=help_,
        section=_VERSION_SECTION,
    )


def _check_version(word: str, start: int) -> Iterator[Problem]:
    match = re.fullmatch(_VERSION, word)
    known = module_forms().versions
    if match is None:
        message, near = ptx8xx.VERSION_MALFORMED(word=clip_text(word)), None
    elif len(match[2]) < 3 and (int(match[1]), int(match[2])) in known:
        return
    else:
        version = int(match[1][:9]), int(match[2][:9])
        message = ptx8xx.NO_SUCH_VERSION(word=clip_text(word))
        if version > known[-1]:
            newest = f"{known[-1][0]}.{known[-1][1]}"
            message = ptx8xx.VERSION_TOO_NEW(word=clip_text(word), newest=newest)
        near = max((each for each in known if each < version), default=known[0])
    help_ = directive_helps.NEAREST_VERSION(major=near[0], minor=near[1]) if near else directive_helps.WRITE_VERSION()
    yield Problem(message, WordLocation(start, word), help=help_, section=_VERSION_SECTION)


def _check_targets(
    item: Directive, start: int, options: list[str], gates: GateChecker, *, has_content: bool
) -> Iterator[Problem]:
    forms = module_forms()
    targets = {each.name: each for each in forms.targets}
    known = {each.name: each for each in forms.options}
    for place, word in enumerate(item.words):
        name = word if word in known else canonical_target(word) or word
        if name in targets:
            if name != word:
                message = ptx8xx.TARGET_TOLERATED(word=clip_text(word), name=name)
                help_ = directive_helps.WRITE_TARGET(name=name)
                yield Problem(message, WordLocation(start, word), help=help_, severity=Severity.WARNING)
            # An assembler compares the two only if there is code to assemble.
            if has_content:
                yield from gates.check(targets[name].gates, f"`{name}`", start, word, _TARGET_SECTION)
        elif name not in known:
            yield _unknown_target(word, start, [*targets, *known])
        elif place == 0 and not any(parse_target(word) is not None for word in options):
            message = ptx1xx.TARGET_DOES_NOT_BEGIN(word=word)
            yield Problem(
                message,
                WordLocation(start, word),
                help=directive_helps.WRITE_TARGET_FIRST(),
                section=_TARGET_SECTION,
            )
        else:
            option = known[name]
            yield from gates.check(option.gates, f"`{name}`", start, word, _TARGET_SECTION)
            for other in option.excludes:
                if other in options:
                    message = ptx1xx.TARGET_OPTIONS_EXCLUDE(name=name, other=other)
                    yield Problem(
                        message,
                        WordLocation(start, word),
                        help=directive_helps.REMOVE_ONE(),
                        section=_TARGET_SECTION,
                    )
        options.append(name)


def _unknown_target(word: str, start: int, known: list[str]) -> Problem:
    near = get_close_matches(word[:80], known, 1)
    number = re.fullmatch(r"sm_(\d{1,4})[a-z]?", word)
    help_ = directive_helps.DID_YOU_MEAN(name=near[0]) if near else directive_helps.WRITE_A_TARGET()
    if number is not None:
        older = [
            each for each in known if (target := parse_target(each)) is not None and target.number <= int(number[1])
        ]
        help_ = directive_helps.NEAREST_TARGET(name=older[-1]) if older and not near else help_
    return Problem(
        ptx8xx.NO_SUCH_TARGET(word=clip_text(word)),
        WordLocation(start, word),
        help=help_,
        section=_TARGET_SECTION,
    )


def _address_size(word: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    form = next(each for each in module_forms().directives if each.name == "address_size")
    yield from gates.check(form.gates, "`.address_size`", start, ".address_size", _SIZE_SECTION)
    legal, size = form.arguments[0].immediates, parse_constant(word) or 0
    if size == _UNSUPPORTED_SIZE:
        message = ptx1xx.ADDRESS_SIZE_32()
        help_ = directive_helps.WRITE_WIDE_ADDRESSES()
        yield Problem(
            message,
            WordLocation(start, word),
            help=help_,
            severity=Severity.NOTE,
            section=_SIZE_SECTION,
        )
    if not is_legal(legal, size):
        message = ptx1xx.ADDRESS_SIZE_WRONG(sizes=describe_immediates(legal), word=clip_text(word))
        yield Problem(
            message,
            WordLocation(start, word),
            help=directive_helps.WRITE_ADDRESS_SIZE(),
            section=_SIZE_SECTION,
        )
