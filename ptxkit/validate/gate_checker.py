"""Checks whether the `.version` and `.target` of a module allow a feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import directive_helps, ptx8xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Gate
from ptxkit.isa.module_forms import ModuleForms
from ptxkit.isa.targets import Target, suggest_target, target_words, unmet_gates
from ptxkit.validate.problem import Problem, WordLocation


@dataclass(frozen=True, slots=True)
class GateChecker:
    """The module's version and target, or None for missing ones."""

    version: tuple[int, int] | None
    target: Target | None

    def check(
        self,
        gates: Iterable[Gate],
        what: str | Message,
        start: int,
        word: str | None = None,
        section: str | None = None,
    ) -> Iterator[Problem]:
        """Yields the finding for a feature that the module's version or target lacks."""
        closed = unmet_gates(tuple(gates), self.version, self.target)
        if closed:
            needed = suggest_target(closed, self.version, self.target)
            message = ptx8xx.NEEDS_HEADING_FOR(what=what, needed=needed, have=target_words(self.version, self.target))
            yield Problem(
                message,
                WordLocation(start, word),
                help=directive_helps.CHANGE_MODULE(needed=needed),
                section=section,
                payload=needed,
            )

    def has_feature(self, name: str) -> bool:
        """Returns whether the module's version and target have a feature of the table."""
        return next(self.check_feature(name, 0), None) is None

    def check_feature(self, name: str, start: int, word: str | None = None) -> Iterator[Problem]:
        """Yields the finding for a feature of the table that the module's version or target lacks."""
        found = next(each for each in module_forms().features if each.name == name)
        yield from self.check(found.gates, found.description, start, word, found.section)


def module_forms() -> ModuleForms:
    """Returns the table's definitions of modules."""
    return table().module
