"""What the builder sees of the mbarriers of a kernel or function, for its warnings and errors about them."""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.source_lines import Location
from ptxkit.syntax import tree


@dataclass(frozen=True, slots=True)
class SelfExpectingCopy:
    """A copy that announced its own bytes to its mbarrier.

    `variable` holds the mbarrier, and `statements` are what the copy was made of.
    """

    variable: str
    location: Location
    statements: tuple[tree.Statement, ...]


class BarrierUses:
    """Which variables hold the mbarriers that are used, and where pipelines use them."""

    def __init__(self) -> None:
        self.origin_variables: dict[str, str] = {}
        """By registers with the address of an mbarrier: the variable that it is in, here or in another CTA."""
        self.escaped: set[str] = set()
        """Variables with mbarriers whose address went where their use is not seen."""
        self.commit_locations: dict[str, Location] = {}
        """Where the stages of a pipeline are committed, by the variable with their mbarriers."""
        self.expected_bytes_locations: dict[str, Location] = {}
        """Where stages of a pipeline announce bytes, by the variable with their mbarriers."""
        self.self_expecting_copies: list[SelfExpectingCopy] = []

    def find_origin_variable(self, base: str | None) -> str | None:
        """The variable that an address begins in, by its name or by a register whose history is known."""
        return None if base is None else self.origin_variables.get(base, None if base.startswith("%") else base)
