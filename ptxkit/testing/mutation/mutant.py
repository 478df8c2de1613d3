"""A mutant: one kernel file with one thing changed, and what that breaks."""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass

Splice = tuple[int, int, str]
"""Replace the text from an offset up to another one; an empty range inserts."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one file.

    kernel: the file, relative to its corpus. function: the kernel or device function that is changed. line: 1-based,
    of the instruction. family: the operator's name. rules: numbers of the rule catalogue that are broken; empty where
    the change breaks nothing. change: what was done, in words, without a place. ordinal: 1-based, among the mutants of
    this kernel, family and change. skips: the conditional branches,
    as texts, that leave it out when they are taken.
    """

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
        """Whether it breaks nothing, so that nothing may be reported."""
        return not self.rules

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """What distinguishes it from all others, and stays when lines move."""
        return self.kernel, self.family, self.change, self.ordinal

    def apply(self, text: str) -> str:
        """The text of the kernel file with the change made. Lines keep their numbers."""
        parts, place = [], 0
        for start, end, replacement in sorted(self.splices):
            parts += [text[place:start], replacement]
            place = end
        return "".join([*parts, text[place:]])

    def __str__(self) -> str:
        return f"{self.kernel}:{self.line}: {self.change}"
