"""A view of a file: plain data that the analyses compute and the page of `ptxkit view` renders.

Lines are those of the PTX, from 1. This module formats no text and decides nothing. A value that could not be computed
is absent, and `FunctionView.no_graph_reason` and `FileView.missing_functions_reason` give the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.transfer import KernelTransfers
from ptxkit.results import FileResult
from ptxkit.source import SourceFile, SourceLine


class TokenClass(StrEnum):
    """The class of a piece of text, which determines its color."""

    OPCODE = "opcode"
    REGISTER = "register"
    SPECIAL = "special register"
    NAME = "name"
    LABEL = "label"
    NUMBER = "number"
    DIRECTIVE = "directive"
    STRING = "string"
    COMMENT = "comment"


ColoredSpan = tuple[int, int, TokenClass]
"""A colored piece of a text: offsets `[start, end)`. It may span several lines."""


class AsyncOpCategory(StrEnum):
    """The relation of an instruction to asynchronous operations and to other threads."""

    ISSUE = "issue"
    """It begins an asynchronous operation."""
    COMMIT = "commit"
    """It closes a group, or makes an mbarrier track the completion of the operations issued so far."""
    WAIT = "wait"
    """It waits for a group, for a phase of an mbarrier, or for another grid."""
    FENCE = "fence"
    """It orders memory, proxies or registers, and waits for no thread."""
    BARRIER = "barrier"
    """Threads synchronize."""
    ARRIVE = "arrive"
    """It arrives at an mbarrier, or adds to the bytes that it expects."""
    SETUP = "setup"
    """It creates or destroys mbarriers, Tensor Memory, registers of a warpgroup, or cancellations."""


@dataclass(frozen=True, slots=True)
class AsyncOp:
    """An instruction that synchronizes or is asynchronous.

    description: its effect, with the objects and numbers that are known. threads: those that execute it, `all`,
    `thread 128`, `warps 0..3`; empty where they are not known.
    """

    line: int
    category: AsyncOpCategory
    opcode: str
    description: str = ""
    threads: str = ""


@dataclass(frozen=True, slots=True)
class BlockView:
    """A basic block.

    first, last: the lines of its first and last instruction. steps: the number of its instructions. label: the label at
    its beginning. categories: those of its instructions that are `AsyncOp`s, in the order of the text. exit_kind:
    `exit`, `return` or `trap` where control may leave the function at its end, else empty.
    """

    first: int
    last: int
    steps: int
    label: str = ""
    categories: tuple[AsyncOpCategory, ...] = ()
    exit_kind: str = ""


class EdgeKind(StrEnum):
    """The kind of an edge between two blocks."""

    NEXT = "next"
    """To the next block: there is no branch, or it is not taken."""
    TAKEN = "taken"
    """By a branch with a predicate."""
    JUMP = "jump"
    """By a branch without a predicate."""
    INDEXED = "indexed"
    """To one of the targets of an indexed branch."""


@dataclass(frozen=True, slots=True)
class ControlFlowEdge:
    """An edge between two blocks, by their numbers.

    guard: the predicate of a branch, `@%p1`, `@!%p1`.
    """

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
    """A function with a body.

    line, last: its first and last line. facts: (name, words) for its launch directives, and the memory and registers
    that it uses. transfers: including the multiplications of its tensor cores. no_graph_reason: the reason why there
    are no blocks.
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
    """A file.

    version, target: as written, empty where they are missing. source_lines: by PTX line, where the source line changes:
    the line from which it was compiled, followed by its call sites if it was inlined. routine_lines: those that a
    compiler writes in any case, such as declarations of registers, `.loc` and copies of registers.
    missing_functions_reason: the reason why functions are missing.
    """

    source: SourceFile
    result: FileResult
    version: str = ""
    target: str = ""
    colored_spans: tuple[ColoredSpan, ...] = ()
    functions: tuple[FunctionView, ...] = ()
    source_lines: Mapping[int, tuple[SourceLine, ...]] = field(default_factory=dict)
    routine_lines: frozenset[int] = frozenset()
    missing_functions_reason: str = ""
