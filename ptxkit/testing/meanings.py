"""How much of the table the reference machine can execute: each form is decoded in several instances."""

from __future__ import annotations

from collections import Counter
from random import Random

from ptxkit.emulate.faults import UnsupportedError
from ptxkit.emulate.program import Program
from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.instances import instances, scaffold
from ptxkit.records import dataclass, field
from ptxkit.syntax import parse


@dataclass(frozen=True, slots=True)
class Lack:
    """A form that cannot be executed: `everywhere`, or in some of its instances. text: one of these."""

    form: Form
    text: str
    reason: str
    everywhere: bool


@dataclass(slots=True)
class Coverage:
    """The manual's forms by chapter (the file's name): how many there are, and how many can be executed."""

    forms: Counter[str] = field(default_factory=Counter)
    meant: Counter[str] = field(default_factory=Counter)
    lacks: list[Lack] = field(default_factory=list)


def coverage(count: int = 6) -> Coverage:
    """Decode `count` instances of each form of the manual's; those that only assemblers take are left out."""
    found = Coverage()
    known = table()
    for name in known.names:
        for form in known.forms(name):
            if form.tolerated:
                continue
            chapter = form.file.removesuffix(".isa")
            found.forms[chapter] += 1
            tried = [(each.text, why_not(each.text)) for each in instances(form, known.value_gates, Random(1), count)]
            wrong = [(text, reason) for text, reason in tried if reason]
            if tried and not wrong:
                found.meant[chapter] += 1
            else:
                text, reason = wrong[0] if wrong else ("", "no instance can be made")
                found.lacks.append(Lack(form, text, reason, len(wrong) == len(tried)))
    return found


def why_not(text: str) -> str:
    """Why the machine cannot execute an instruction; empty where it can."""
    module = parse(scaffold([text], (9, 4), "sm_100a") + "\n.entry nothing() { ret; }\n")
    name = next(each.name for each in module.functions() if each.body is not None)
    try:
        program = Program(module, name if module.function(name).kind == "entry" else "nothing", 0)
        return next(iter(program.code(name).unsupported()), "")
    except UnsupportedError as error:
        return str(error)
