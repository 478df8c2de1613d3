"""Checks variables, registers and parameters: type, state space, scope, alignment and shape of a declaration.

The valid types of each state space are in `grammars/isa/directives.isa`; the other rules are those of ptxas.

Source: PTX ISA, "State Spaces", "Types", "Variables", "Kernel and Function Directives".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache

from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import declaration_helps, ptx1xx
from ptxkit.isa import table
from ptxkit.isa.functions import is_type
from ptxkit.isa.module_forms import DataType
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.layout import scalar_bits
from ptxkit.semantics.symbols import OPAQUE_TYPES
from ptxkit.syntax.tree import Declaration, Declarator, Function, Prototype, Vector
from ptxkit.validate.directives import attribute_problems, directive_forms, linkage_problems
from ptxkit.validate.gate_checker import GateChecker, module_forms
from ptxkit.validate.limits import MAX_ALIGNMENT, MAX_PARAMETER_ALIGNMENT
from ptxkit.validate.problem import Problem, WordLocation

_VECTOR_BITS = 128
_LANES = {"v2": 2, "v4": 4}
_SMALL_PARAMETERS, _ALL_PARAMETERS = 4352, 32764
"""The bytes of kernel parameters that every version and target supports, and the largest supported number."""

_SPACES = {
    "module": ("const", "global", "shared"),
    "body": ("reg", "const", "global", "local", "shared", "param"),
    "kernel_parameter": ("param",),
    "input": ("reg", "param"),
    "output": ("reg", "param"),
}
_WHERE = {
    "module": declaration_helps.OUTSIDE_FUNCTIONS(),
    "body": declaration_helps.IN_BODY(),
    "kernel_parameter": declaration_helps.AS_KERNEL_PARAMETER(),
    "input": declaration_helps.AS_PARAMETER(),
    "output": declaration_helps.AS_RESULT(),
}
_INSTRUCTION_ONLY_TYPES = re.compile(r"e[45]m[23]|(?:e\d|ue8)m\dx[24]|[su]16x2|f32x2")
_POINTER_SPACES = ("const", "global", "local", "shared")


@cache
def data_types() -> dict[str, DataType]:
    """Returns the types of variables by name."""
    return {each.name: each for each in module_forms().types}


def variable_problems(declaration: Declaration, where: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in a declaration, except for its initial values.

    where: `module`, `body`, `kernel_parameter`, or `input` and `output` of a function.
    """
    if not declaration.space and not _is_of_variables(declaration.type):
        yield _unknown_directive(declaration.type, start)
        return
    if not declaration.declarators and where == "body" and declaration.type in OPAQUE_TYPES:
        message = ptx1xx.TYPE_IN_FUNCTION_BODY(type=declaration.type)
        yield Problem(
            message,
            WordLocation(start, f".{declaration.type}"),
            help=declaration_helps.MOVE_OUT_OF_FUNCTION(),
        )
    elif not declaration.declarators:
        message = ptx1xx.DECLARES_NOTHING()
        yield Problem(
            message,
            WordLocation(start),
            help=declaration_helps.NAME_VARIABLE(),
            severity=Severity.WARNING,
        )
    if where == "module":
        place = "global_variable" if declaration.space == "global" else "variable"
        yield from linkage_problems(declaration.linkage, place, start, gates)
    elif declaration.linkage:
        message = ptx1xx.LINKAGE_IN_WRONG_PLACE(word=declaration.linkage[0], place=_WHERE[where])
        help_ = declaration_helps.MOVE_DECLARATION_OUT()
        yield Problem(
            message,
            WordLocation(start, f".{declaration.linkage[0]}"),
            help=help_,
            section="Linking Directives",
        )
    if declaration.attributes:
        place = "global_variable" if declaration.space == "global" and where in ("module", "body") else "variable"
        yield from attribute_problems(declaration.attributes, place, start, gates)
    yield from _check_alignment(declaration, where, start)
    if declaration.declarators:
        yield from _check_declared(declaration, where, start, gates)
    else:
        yield from _check_type(declaration, start, is_empty=True)


def _is_of_variables(word: str) -> bool:
    """Returns whether a type is valid for a variable, or at least for an empty declaration."""
    return word in data_types() or _is_narrow_float(word)


def _unknown_directive(word: str, start: int) -> Problem:
    message = ptx1xx.NO_DIRECTIVE_HERE(word=clip_text(word))
    help_ = declaration_helps.LISTED_DIRECTIVES()
    return Problem(message, WordLocation(start, f".{word}"), help=help_, section="Directives")


def _check_declared(declaration: Declaration, where: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Checks the type and the names of a declaration that has names."""
    data_type = data_types().get(declaration.type)
    wrong = list(_check_type(declaration, start))
    may_be_here = where == "module" and declaration.space in _SPACES["body"] and gates.has_feature("module_registers")
    if declaration.space not in _SPACES[where]:
        if not may_be_here:
            yield _wrong_space(declaration, where, start)
    elif wrong or data_type is None:
        yield from wrong
    else:
        word = f".{declaration.type}"
        yield from gates.check(data_type.gates, f"`{word}`", start, word, data_type.section)
        for declarator in declaration.declarators:
            yield from _check_shape(declaration, declarator, data_type, where, start)
    yield from _check_pointer(declaration, where, start, gates)
    for declarator in declaration.declarators:
        yield from _check_name(declarator, where, start)
        yield from _check_lengths(declaration, declarator, where, start)


def _check_type(declaration: Declaration, start: int, *, is_empty: bool = False) -> Iterator[Problem]:
    """Checks the type of a declaration and its `.v2` or `.v4`. is_empty: nothing is declared, and fewer checks
    apply.
    """
    data_type = data_types().get(declaration.type)
    if data_type is None:
        if not (is_empty and _is_narrow_float(declaration.type)):
            yield _unknown_type(declaration.type, start)
        return
    wrong = _wrong_vector(declaration, data_type)
    if wrong is not None:
        yield _variable_problem(wrong[0], start, f".{declaration.vector}", wrong[1], "Vectors")


def parameter_problems(function: Function, start: int, gates: GateChecker) -> Iterator[Problem]:
    """Yields the errors in the parameters and results of a function."""
    is_kernel = function.kind == "entry"
    if is_kernel and function.body is None:
        yield from gates.check_feature("kernel_declaration", start, function.name)
    for declaration in function.results:
        yield from variable_problems(declaration, "output", start, gates)
    for declaration in function.parameters:
        yield from variable_problems(declaration, "kernel_parameter" if is_kernel else "input", start, gates)
    yield from _check_results(function.results, start)
    for declaration in function.parameters[:-1]:
        if not is_kernel and _is_unsized(declaration.declarators[0]):
            message = ptx1xx.OPEN_ARRAY_PARAMETER()
            yield _variable_problem(message, start, declaration.declarators[0].name, declaration_helps.MOVE_TO_END())
    if is_kernel:
        yield from _check_total_size(function, start, gates)
    elif any(each.space == "param" for each in (*function.results, *function.parameters)):
        yield from gates.check_feature("function_param", start, function.name)
        if function.parameters and _is_unsized(function.parameters[-1].declarators[0]):
            yield from gates.check_feature("variadic", start, function.parameters[-1].declarators[0].name)


def prototype_parameter_problems(prototype: Prototype, start: int) -> Iterator[Problem]:
    """Yields the errors in the parameters of a call prototype, of which only the state spaces are checked."""
    for declaration in (*prototype.results, *prototype.parameters):
        if declaration.space not in _SPACES["input"]:
            yield _wrong_space(declaration, "input", start)
        else:
            yield from _check_type(declaration, start)
            yield from _check_alignment(declaration, "prototype", start)
    yield from _check_results(prototype.results, start)


def _variable_problem(
    message: Message, start: int, word: str, help_: Message | None = None, section: str = "Variables"
) -> Problem:
    return Problem(message, WordLocation(start, word), help=help_, section=section)


def _check_results(results: tuple[Declaration, ...], start: int) -> Iterator[Problem]:
    wrong = next((each for each in results if each.space != "reg"), None) if len(results) > 1 else None
    if wrong is not None:
        message = ptx1xx.RESULTS_NOT_IN_REGISTERS()
        help_ = declaration_helps.DECLARE_REGISTERS()
        yield _variable_problem(
            message, start, wrong.declarators[0].name, help_, "Function Declarations and Definitions"
        )


def _wrong_space(declaration: Declaration, where: str, start: int) -> Problem:
    spaces = " or ".join(f".{each}" for each in _SPACES[where])
    message = ptx1xx.SPACE_NOT_ALLOWED(space=declaration.space, place=_WHERE[where])
    return _variable_problem(
        message, start, f".{declaration.space}", declaration_helps.ALLOWED_SPACES(spaces=spaces), "State Spaces"
    )


def _is_narrow_float(name: str) -> bool:
    """Returns whether an assembler knows a type in an empty declaration, although it is one of instructions only."""
    return is_type(name) and _INSTRUCTION_ONLY_TYPES.fullmatch(name) is not None


def _unknown_type(name: str, start: int) -> Problem:
    near = get_close_matches(name[:80], list(data_types()), 1)
    if is_type(name):
        message = ptx1xx.INSTRUCTION_TYPE_OF_VARIABLE(type=name)
        help_ = declaration_helps.DECLARE_UNTYPED()
    else:
        message = ptx1xx.NO_VARIABLE_TYPE(type=clip_text(name))
        help_ = declaration_helps.DID_YOU_MEAN_TYPE(name=near[0]) if near else declaration_helps.TYPES_OF_VARIABLES()
    return _variable_problem(message, start, f".{name}", help_, "Types")


def _wrong_vector(declaration: Declaration, data_type: DataType) -> tuple[Message, Message] | None:
    """Returns why there are no such vectors, and the remedy, or None if there are, or it is not a vector."""
    if declaration.vector is None:
        return None
    lanes = _LANES.get(declaration.vector)
    if lanes is None or not (data_type.vectors or bits_of(data_type) == _VECTOR_BITS):
        return ptx1xx.NO_SUCH_VECTOR(
            vector=declaration.vector, type=declaration.type
        ), declaration_helps.VECTORS_OF_VARIABLES()
    if lanes * bits_of(data_type) > _VECTOR_BITS:
        message = ptx1xx.VECTOR_TOO_WIDE(limit=_VECTOR_BITS, lanes=lanes, type=declaration.type)
        return message, declaration_helps.USE_SMALLER()
    return None


def _check_shape(
    declaration: Declaration, declarator: Declarator, data_type: DataType, where: str, start: int
) -> Iterator[Problem]:
    """Checks whether the type allows single variables, arrays or vectors in this state space and scope."""
    name, space = declaration.type, declaration.space
    what, spaces = declaration_helps.A_VARIABLE(type=name), data_type.spaces
    if declarator.dimensions:
        what, spaces = declaration_helps.AN_ARRAY(type=name), data_type.arrays
    elif declaration.vector is not None:
        what, spaces = declaration_helps.A_VECTOR(type=name), data_type.vectors
    if space not in spaces or _is_opaque_elsewhere(data_type, declarator, where):
        allowed = " or ".join(f".{each}" for each in spaces)
        help_ = declaration_helps.CAN_BE_IN(spaces=allowed) if allowed and space not in spaces else None
        if space == "reg" and declarator.dimensions:
            help_ = declaration_helps.NUMBER_REGISTERS(
                name=clip_text(declarator.name), count=declarator.dimensions[0] or 1
            )
        place = declaration_helps.IN_SPACE(space=space) if space not in spaces else _WHERE[where]
        yield _variable_problem(
            ptx1xx.VARIABLE_NOT_ALLOWED(kind=what, place=place),
            start,
            declarator.name,
            help_,
            data_type.section,
        )


def _is_opaque_elsewhere(data_type: DataType, declarator: Declarator, where: str) -> bool:
    """Returns whether an opaque variable is elsewhere than outside of functions or among the parameters of kernels."""
    if not data_type.fields:
        return False
    return where == "body" or (where in ("input", "output") and not declarator.dimensions)


def bits_of(data_type: DataType) -> int:
    """Returns the width of one variable of a type; 64 for a texture, sampler or surface."""
    return scalar_bits(data_type.name)


def _check_alignment(declaration: Declaration, where: str, start: int) -> Iterator[Problem]:
    for alignment in (declaration.alignment, declaration.pointer_alignment):
        if alignment is None:
            continue
        if alignment <= 0 or alignment & (alignment - 1) or alignment > MAX_ALIGNMENT:
            help_ = declaration_helps.WRITE_POWER_OF_TWO()
            yield _variable_problem(
                ptx1xx.ALIGNMENT_NOT_POWER_OF_TWO(alignment=alignment), start, ".align", help_, "Alignment"
            )
        elif where in ("input", "output") and alignment > MAX_PARAMETER_ALIGNMENT:
            message = ptx1xx.PARAMETER_ALIGNMENT_TOO_LARGE(limit=MAX_PARAMETER_ALIGNMENT)
            yield _variable_problem(
                message,
                start,
                ".align",
                declaration_helps.WRITE_ALIGNMENT(alignment=MAX_PARAMETER_ALIGNMENT),
                "Alignment",
            )


def _check_pointer(declaration: Declaration, where: str, start: int, gates: GateChecker) -> Iterator[Problem]:
    if declaration.pointer is None:
        return
    form = directive_forms()["ptr"]
    if where != "kernel_parameter":
        message = ptx1xx.PTR_OF_OTHER_PARAMETER()
        yield Problem(message, WordLocation(start, ".ptr"), help=declaration_helps.REMOVE_IT(), section=form.section)
        return
    yield from gates.check(form.gates, "`.ptr`", start, ".ptr", form.section)
    for word in declaration.pointer:
        if word not in _POINTER_SPACES:
            message = ptx1xx.PTR_TO_OTHER_SPACE(word=word)
            help_ = declaration_helps.WRITE_SPACES(spaces=", ".join(f".{each}" for each in _POINTER_SPACES))
            yield Problem(
                message,
                WordLocation(start, f".{word}", 1),
                help=help_,
                section=form.section,
            )


def _check_name(declarator: Declarator, where: str, start: int) -> Iterator[Problem]:
    name = declarator.name
    if name == "_" and where == "kernel_parameter":
        return
    if where == "module" and table().special(name) is not None:
        yield _variable_problem(
            ptx1xx.NAME_OF_SPECIAL_REGISTER(name=clip_text(name)),
            start,
            name,
            declaration_helps.CHOOSE_OTHER_NAME(),
            "Identifiers",
        )
    if name == "_" or "." in name:
        wrong = ptx1xx.NAME_IS_SINK() if name == "_" else ptx1xx.NAME_WITH_DOT(name=clip_text(name))
        yield _variable_problem(wrong, start, name, declaration_helps.CHOOSE_OTHER_NAME(), "Identifiers")


def _is_unsized(declarator: Declarator) -> bool:
    return bool(declarator.dimensions) and not declarator.dimensions[0]


def _check_lengths(declaration: Declaration, declarator: Declarator, where: str, start: int) -> Iterator[Problem]:
    """Checks arrays of open length, numbers of registers, and initial values that are not allowed."""
    name = clip_text(declarator.name)
    if where not in ("module", "body") and declarator.initialiser is not None:
        yield _variable_problem(ptx1xx.PARAMETER_WITH_INITIAL_VALUE(name=name), start, declarator.name)
    if any(length is None for length in declarator.dimensions[1:]):
        message = ptx1xx.LENGTH_LEFT_OPEN(name=name)
        yield _variable_problem(
            message, start, declarator.name, declaration_helps.WRITE_OTHER_LENGTHS(), "Array Declarations"
        )
    if not _is_unsized(declarator) or where == "input":
        return
    if where in ("kernel_parameter", "output"):
        template = ptx1xx.RESULT_NEEDS_LENGTH if where == "output" else ptx1xx.KERNEL_PARAMETER_NEEDS_LENGTH
        yield _variable_problem(template(name=name), start, declarator.name, declaration_helps.WRITE_LENGTH())
    elif "extern" not in declaration.linkage:
        filled = isinstance(declarator.initialiser, Vector) and declarator.initialiser.elements
        if not filled or declarator.dimensions[0] == 0:
            message = ptx1xx.ARRAY_WITHOUT_LENGTH(name=name)
            help_ = declaration_helps.WRITE_LENGTH_OR_VALUES()
            yield _variable_problem(message, start, declarator.name, help_, "Array Declarations")


def _check_total_size(function: Function, start: int, gates: GateChecker) -> Iterator[Problem]:
    size = 0
    for declaration in function.parameters:
        data_type = data_types().get(declaration.type)
        if data_type is None or declaration.declarators[0].dimensions.count(None):
            return
        element = max(bits_of(data_type) // 8, 1) * _LANES.get(declaration.vector or "", 1)
        alignment = declaration.alignment or element
        if alignment & (alignment - 1):
            return
        count = 1
        for length in declaration.declarators[0].dimensions:
            count *= length or 1
        size = (size + alignment - 1) // alignment * alignment + element * count
    if size > _ALL_PARAMETERS:
        message = ptx1xx.PARAMETERS_TOO_LARGE(name=clip_text(function.name), size=size, limit=_ALL_PARAMETERS)
        yield _variable_problem(
            message, start, function.name, declaration_helps.PASS_POINTER(), "Parameter State Space"
        )
    elif size > _SMALL_PARAMETERS:
        yield from gates.check_feature("large_parameters", start, function.name)
