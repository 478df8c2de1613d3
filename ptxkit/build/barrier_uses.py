"""Facts about the mbarriers of a kernel or function, which the builder collects for its warnings and errors."""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.source_lines import Location
from ptxkit.syntax import tree


@dataclass(frozen=True, slots=True)
class SelfExpectingCopy:
    """A copy with the expect-tx of its own bytes.

    `variable` is the name of the mbarrier's variable, and `statements` are the statements of the copy.
    """

    variable: str
    location: Location
    statements: tuple[tree.Statement, ...]


class BarrierUses:
    """The variables whose mbarriers a kernel uses, and the lines where pipelines use them."""

    def __init__(self) -> None:
        self.origin_variables: dict[str, str] = {}
        """The variable of an mbarrier, in this CTA or in another one, by each register that holds its address."""
        self.escaped: set[str] = set()
        """Variables with mbarriers whose address was passed to code that the builder does not see."""
        self.commit_locations: dict[str, Location] = {}
        """The lines where stages of a pipeline are committed, by the variable of their mbarriers."""
        self.expected_bytes_locations: dict[str, Location] = {}
        """The lines where stages of a pipeline expect bytes, by the variable of their mbarriers."""
        self.self_expecting_copies: list[SelfExpectingCopy] = []

    def find_origin_variable(self, base: str | None) -> str | None:
        """Returns the variable that an address belongs to, by its name or by a register whose origin is known, or
        None.
        """
        return None if base is None else self.origin_variables.get(base, None if base.startswith("%") else base)
