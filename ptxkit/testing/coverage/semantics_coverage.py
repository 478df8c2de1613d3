"""The part of the table that the reference machine can execute: each form is decoded in several instances."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from ptxkit.emulator.core.findings import UnsupportedError
from ptxkit.emulator.engine.executable import Executable
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa import table
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.harness_module import harness_module
from ptxkit.isa.instance_generator import instances
from ptxkit.syntax import parse
from ptxkit.testing.coverage.example_coverage import instructions_of


@dataclass(frozen=True, slots=True)
class UnsupportedForm:
    """A form that cannot be executed: `everywhere`, or in some of its instances. text: one of these."""

    form: Form
    text: str
    reason: str
    is_total: bool


@dataclass(slots=True)
class SemanticsCoverage:
    """The forms of the manual by chapter (the name of the file): their number, and the number of executable ones."""

    forms: Counter[str] = field(default_factory=Counter)
    executable: Counter[str] = field(default_factory=Counter)
    unsupported: list[UnsupportedForm] = field(default_factory=list)


def measure_coverage(count: int = 6) -> SemanticsCoverage:
    """Decodes `count` instances of each form of the manual; forms that only assemblers accept are skipped."""
    found = SemanticsCoverage()
    known = table()
    for name in known.names:
        for form in known.forms(name):
            if form.tolerated:
                continue
            chapter = form.file.removesuffix(".isa")
            found.forms[chapter] += 1
            texts = [each.text for each in instances(form, known.value_gates, Random(1), count)]
            tried = [(text, unsupported_reason(text)) for text in texts]
            wrong = [(text, reason) for text, reason in tried if reason and not is_tolerated(text)]
            if not wrong and any(not reason for _, reason in tried):
                found.executable[chapter] += 1
            else:
                text, reason = (wrong or tried or [("", "no instance can be made")])[0]
                found.unsupported.append(UnsupportedForm(form, text, reason, len(wrong) == len(tried)))
    return found


def unsupported_reason(text: str) -> str:
    """Returns the reason why the machine cannot execute an instruction, or an empty text. A label may represent a list
    of labels.
    """
    reason = _decode_error(text)
    if reason and _LABEL.search(text) and not _decode_error(_LABEL.sub("targets_", text)):
        return ""
    return reason


def is_tolerated(text: str) -> bool:
    """Returns whether the manual lacks this variant of a form."""
    matches = [table().match(each) for each in instructions_of(parse(_module(text)))]
    return any(isinstance(each, Match) and bool(each.tolerated) for each in matches)


_LABEL = re.compile(r"\btarget\b")
_WITHOUT_BODY = re.compile(r"\.extern (\.func [^;]*);")


def _module(text: str) -> str:
    """Returns a module with the instruction in an allowed place; functions that it calls have bodies."""
    return (
        _WITHOUT_BODY.sub(r"\1 { ret; }", harness_module([text], (9, 4), "sm_100a")) + "\n.entry nothing() { ret; }\n"
    )


def _decode_error(text: str) -> str:
    module = parse(_module(text))
    name = next(each.name for each in module.functions() if each.name in _FUNCTION_NAMES)
    try:
        program = Executable(module, name if module.function(name).kind == "entry" else "nothing", 0)
        return next(iter(program.decode_function(name).unsupported_reasons()), "")
    except UnsupportedError as error:
        return str(error)


_FUNCTION_NAMES = ("kernel", "function")
"""The functions of the module that contain the instruction."""
