"""A file as a picture shows it: plain data that the analyses fill in and the page of `ptxkit view` reads.

Lines are the PTX's, from 1. Nothing here formats text, and nothing here is decided: what could not be found out is
absent, and `FunctionView.without_graph` and `FileView.unread` say why.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.transfer import KernelTransfers
from ptxkit.results import FileResult
from ptxkit.source import SourceFile, SourceLine


class TokenClass(StrEnum):
    """What a piece of text is, for colours."""

    OPCODE = "opcode"
    REGISTER = "register"
    SPECIAL = "special register"
    NAME = "name"
    LABEL = "label"
    NUMBER = "number"
    DIRECTIVE = "directive"
    STRING = "string"
    COMMENT = "comment"


ColouredSpan = tuple[int, int, TokenClass]
"""A coloured piece of a text: offsets `[start, end)`. It may go over several lines."""


class AsyncOpCategory(StrEnum):
    """What an instruction has to do with asynchronous operations and with other threads."""

    ISSUE = "issue"
    """It begins an asynchronous operation."""
    COMMIT = "commit"
    """It closes a group, or has an mbarrier signalled when what was issued is complete."""
    WAIT = "wait"
    """It waits for a group, for a phase of an mbarrier, for another grid."""
    FENCE = "fence"
    """It orders memory, proxies or registers, and waits for no thread."""
    BARRIER = "barrier"
    """Threads meet."""
    ARRIVE = "arrive"
    """It arrives at an mbarrier, or announces bytes to one."""
    SETUP = "setup"
    """It makes or ends what the others need: mbarriers, Tensor Memory, registers of a warpgroup, cancellations."""


@dataclass(frozen=True, slots=True)
class AsyncOp:
    """An instruction that synchronises or is asynchronous. words: what it does, as far as its text says."""

    line: int
    category: AsyncOpCategory
    opcode: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class BlockView:
    """A basic block: lines of its first and last instruction, how many it has, the label it begins with.

    sorts: of its instructions that are `AsyncOp`s, in the order of the text. ends: `exit`, `return` or `trap` where
    control may leave the function at its end, else empty.
    """

    first: int
    last: int
    steps: int
    label: str = ""
    categories: tuple[AsyncOpCategory, ...] = ()
    exit_kind: str = ""


class EdgeKind(StrEnum):
    """How control goes from one block to another."""

    NEXT = "next"
    """To the block after it: nothing branches, or a branch is not taken."""
    TAKEN = "taken"
    """By a branch with a predicate."""
    JUMP = "jump"
    """By a branch without one."""
    INDEXED = "indexed"
    """By one of the targets of an indexed branch."""


@dataclass(frozen=True, slots=True)
class ControlFlowEdge:
    """Control may go from one block to another, by their numbers. guard: the predicate of a branch, `@%p1`, `@!%p1`."""

    source: int
    target: int
    kind: EdgeKind
    guard: str = ""


@dataclass(frozen=True, slots=True)
class LoopView:
    """A loop: its blocks, and the lines of the first and last of their instructions."""

    blocks: tuple[int, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class FunctionView:
    """A function with a body. line, last: its first and last line. facts: what its head says of a launch, and the
    memory and registers that it declares: (name, words).

    transfers: with the multiplications of its tensor cores. without_graph: why there are no blocks.
    """

    name: str
    kind: str
    line: int
    last: int
    facts: tuple[tuple[str, str], ...] = ()
    blocks: tuple[BlockView, ...] = ()
    edges: tuple[ControlFlowEdge, ...] = ()
    loops: tuple[LoopView, ...] = ()
    async_ops: tuple[AsyncOp, ...] = ()
    transfers: KernelTransfers | None = None
    no_graph_reason: str = ""


@dataclass(frozen=True, slots=True)
class FileView:
    """A file. version, target: as written, empty where they are missing. places: by PTX line, where the source line
    changes: the line that it was compiled from, then where that was inlined. unread: why functions are missing.
    """

    source: SourceFile
    result: FileResult
    version: str = ""
    target: str = ""
    coloured_spans: tuple[ColouredSpan, ...] = ()
    functions: tuple[FunctionView, ...] = ()
    source_lines: Mapping[int, tuple[SourceLine, ...]] = field(default_factory=dict)
    missing_functions_reason: str = ""
