"""The code of a function as a list of instructions: nested blocks are flattened, and labels become indices.

Only an instruction is a step. The index after the last step is the end of the function, where a thread returns as by
`ret`; labels and branches may lead there, and a function without instructions consists of the end only. The form does
not describe the effect of an instruction: the analysis decorates each step with its match in the instruction table, and
the reference machine with the decoded operation.

Source: PTX ISA, "Labels", "Variable Declarations" (a nested block has a separate scope for registers, variables and
labels), "Control Flow Directives: .branchtargets", "Kernel and Function Directives".
"""

from __future__ import annotations

from typing import Generic, TypeVar

from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.symbols import NameScope, scoped_statements
from ptxkit.syntax.tree import Body, Declaration, Instruction, LabelStatement, Name

_Scope = TypeVar("_Scope", bound=NameScope)


@dataclass(frozen=True, slots=True, eq=False)
class LinearStep(Generic[_Scope]):
    """One instruction at its position.

    start: the offset of its statement in the text, 0 in a built tree. scope: the names that it can use.
    """

    index: int
    instruction: Instruction
    scope: _Scope
    start: int

    @property
    def targets(self) -> tuple[int, ...]:
        """The indices to which the instruction can branch, in the order of its list; empty if it is not a branch."""
        operands = self.instruction.operands
        last = operands[-1] if operands else None
        return self.scope.branch_targets(last.text) if isinstance(last, Name) else ()


@dataclass(frozen=True, slots=True, eq=False)
class LinearCode(Generic[_Scope]):
    """A body in its linear form.

    steps: the instructions by index. variables: the declarations of variables in the order of the text, each with the
    scope that has their names. scopes: the scopes of the blocks, that of the function first. label_names: by the index
    of a step, the first of the labels that precede it.
    """

    steps: tuple[LinearStep[_Scope], ...]
    variables: tuple[tuple[Declaration, _Scope], ...]
    scopes: tuple[_Scope, ...]
    label_names: dict[int, str]


def linearize(body: Body, scope: _Scope) -> LinearCode[_Scope]:
    """Returns the linear form of the body of a function.

    scope: the scope that has the names of its parameters, and receives those of its outermost block.
    """
    steps: list[LinearStep[_Scope]] = []
    variables: list[tuple[Declaration, _Scope]] = []
    scopes = {scope: None}
    label_names: dict[int, str] = {}
    for statement, start, here in scoped_statements(body, scope):
        if isinstance(statement, Instruction):
            steps.append(LinearStep(len(steps), statement, here, start))
        elif isinstance(statement, LabelStatement):
            here.label_indices.setdefault(statement.name, len(steps))
            label_names.setdefault(len(steps), statement.name)
        else:
            scopes[here.block] = None
            if isinstance(statement, Declaration) and statement.space != "reg":
                variables.append((statement, here))
    return LinearCode(tuple(steps), tuple(variables), tuple(scopes), label_names)
