"""The code of a function as a list of instructions: nested blocks are flattened, and labels become indices.

Only an instruction is a step. The index after the last step is the end of the function, where a thread returns as by
`ret`; labels and branches may lead there, and a function without instructions has nothing else. The form says nothing
about what an instruction does: the analysis decorates each step with its match in the instruction table, and the
reference machine with the decoded operation.

ptxas rejects two labels of one name in a block; here the later one counts.

Source: PTX ISA, "Labels", "Variable Declarations" (a nested block has a scope of its own for registers, variables and
labels), "Control Flow Directives: .branchtargets", "Kernel and Function Directives".
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.symbols import NameScope, scoped_statements
from ptxkit.syntax.tree import Block, Body, Declaration, Directive, Function, Instruction, LabelStatement, Name

_Scope = TypeVar("_Scope", bound=NameScope)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalBlock:
    """The statements between one pair of braces, without those of the blocks inside.

    number: counts the blocks of the function in the order of the text, from 0 for the braces of the function.
    labels: the indices of the steps that they precede. branch_lists: the labels of each `.branchtargets`, by its own.
    """

    number: int
    parent: LexicalBlock | None
    labels: dict[str, int]
    branch_lists: dict[str, tuple[str, ...]]

    def targets_of(self, name: str) -> tuple[int, ...]:
        """The index that a label stands for, or those of a list of labels; none where the name stands for neither.

        The labels of a list are those of the block that has the list, not of the block that branches. A list with an
        unknown label, which ptxas rejects, has no targets, because the positions in the list have a meaning.
        """
        block: LexicalBlock | None = self
        while block is not None:
            if name in block.labels:
                return (block.labels[name],)
            if name in block.branch_lists:
                found = [block._label_index(each) for each in block.branch_lists[name]]
                return tuple([index for index in found if index is not None]) if None not in found else ()
            block = block.parent
        return ()

    def _label_index(self, name: str) -> int | None:
        block: LexicalBlock | None = self
        while block is not None and name not in block.labels:
            block = block.parent
        return None if block is None else block.labels[name]


@dataclass(frozen=True, slots=True, eq=False)
class LinearStep(Generic[_Scope]):
    """One instruction at its position. start: the offset of its statement in the text, 0 in a built tree. scope: the
    names that it can use."""

    index: int
    instruction: Instruction
    block: LexicalBlock
    start: int
    scope: _Scope

    @property
    def targets(self) -> tuple[int, ...]:
        """The indices to which the instruction can branch, in the order of its list; none where it is no branch."""
        operands = self.instruction.operands
        last = operands[-1] if operands else None
        return self.block.targets_of(last.text) if isinstance(last, Name) else ()


@dataclass(frozen=True, slots=True, eq=False)
class LocalDeclaration(Generic[_Scope]):
    """A declaration in a body: of registers, of variables, or of a function. scope: where the names are entered."""

    node: Declaration | Function
    block: LexicalBlock
    scope: _Scope


@dataclass(frozen=True, slots=True, eq=False)
class LinearCode(Generic[_Scope]):
    """A body in its linear form.

    items: steps and declarations in the order of the text. steps: those alone, by index. blocks: by number. scopes: of
    the blocks and of their parts, that of the function first.
    label_names: by the index of a step, the first of the labels that precede it.
    """

    items: tuple[LinearStep[_Scope] | LocalDeclaration[_Scope], ...]
    steps: tuple[LinearStep[_Scope], ...]
    blocks: tuple[LexicalBlock, ...]
    scopes: tuple[_Scope, ...]
    label_names: dict[int, str]


@overload
def linearize(body: Body) -> LinearCode[NameScope]: ...


@overload
def linearize(body: Body, scope: _Scope) -> LinearCode[_Scope]: ...


def linearize(body: Body, scope: Any = None) -> LinearCode[Any]:
    """The linear form of the body of a function. scope: has the names of its parameters, and receives those of its
    outermost block."""
    scope = NameScope() if scope is None else scope
    items: list[LinearStep[Any] | LocalDeclaration[Any]] = []
    steps: list[LinearStep[Any]] = []
    blocks = {scope: LexicalBlock(0, None, {}, {})}
    scopes = {scope: None}
    label_names: dict[int, str] = {}
    for statement, start, here in scoped_statements(body, scope):
        scopes[here] = None
        if isinstance(statement, Block):
            blocks[here] = LexicalBlock(len(blocks), blocks[here.outer.block], {}, {})
            continue
        block = blocks[here.block]
        if isinstance(statement, Instruction):
            step = LinearStep(len(steps), statement, block, start, here)
            steps.append(step)
            items.append(step)
        elif isinstance(statement, LabelStatement):
            block.labels[statement.name] = len(steps)
            label_names.setdefault(len(steps), statement.name)
        elif isinstance(statement, Declaration | Function):
            items.append(LocalDeclaration(statement, block, here))
        elif isinstance(statement, Directive) and statement.label and statement.name == "branchtargets":
            block.branch_lists[statement.label] = statement.words
    return LinearCode(tuple(items), tuple(steps), tuple(blocks.values()), tuple(scopes), label_names)
