"""A mutant: one kernel file with one change, and the rules that it violates."""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass

Splice = tuple[int, int, str]
"""Replaces the text from an offset up to another one; an empty range inserts."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one file. kernel: the file, relative to its corpus. function: the kernel or device function that is
    changed. line: 1-based, of the instruction. family: the name of the operator. rules: numbers of the rule catalogue
    that are violated; empty for a harmless change. change: a description without the place. ordinal: 1-based, among the
    mutants of this kernel, family and change. skips: the texts of the conditional branches that skip it if they are
    taken."""

    kernel: str
    function: str
    line: int
    family: str
    rules: tuple[str, ...]
    change: str
    ordinal: int
    splices: tuple[Splice, ...]
    skipping_branches: tuple[str, ...] = ()

    @property
    def is_harmless(self) -> bool:
        """Whether it is harmless, so that nothing may be reported."""
        return not self.rules

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """Its identity among all mutants, which is stable when lines move."""
        return self.kernel, self.family, self.change, self.ordinal

    def apply(self, text: str) -> str:
        """Returns the text of the kernel file with the change. Lines keep their numbers."""
        parts, place = [], 0
        for start, end, replacement in sorted(self.splices):
            parts += [text[place:start], replacement]
            place = end
        return "".join([*parts, text[place:]])

    def __str__(self) -> str:
        return f"{self.kernel}:{self.line}: {self.change}"
