"""Compares a call with the function that it names, or the prototype or list of targets after it.

The rules are those of ptxas: an argument agrees with its parameter in size and alignment and, if both state the meaning
of their bits, in kind; registers and `.param` variables are interchangeable; a constant is valid for any scalar.

Source: PTX ISA, "Control Flow Instructions: call", "Function Declarations and Definitions", "Variadic Functions".
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import declaration_helps, operand_reasons, ptx1xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Control
from ptxkit.isa.forms import Match
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.symbols import CALL_TARGETS, FUNCTION, PARAMETERS, PROTOTYPE, NameBinding, is_symbol
from ptxkit.syntax.target_names import target_names
from ptxkit.syntax.tree import Arguments, Declaration, Directive, Function, Instruction, Name, Operand, Prototype
from ptxkit.validate.arguments import argument_mismatch
from ptxkit.validate.constants import kind_of
from ptxkit.validate.name_problems import describe_class
from ptxkit.validate.problem import Problem
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN, TypedScope

_SECTION = "Control Flow Instructions: call"
_POINTERS = frozenset({"b32", "u32", "s32", "b64", "u64", "s64"})


@dataclass(frozen=True, slots=True)
class CallSignature:
    """The signature that a call must fit. named: the function, prototype or list that states it; shown: its name or
    label.
    """

    results: tuple[Declaration, ...]
    parameters: tuple[Declaration, ...]
    binding: NameBinding
    display_name: str

    @property
    def is_open(self) -> bool:
        """Whether the last parameter is an array of any length, which may be omitted."""
        return bool(self.parameters) and is_incomplete(self.parameters[-1])


_SignatureResult = Generator[Problem, None, list[CallSignature]]
"""A generator of problems that returns the signatures that the call must fit."""


def is_incomplete(declaration: Declaration) -> bool:
    """Returns whether a parameter is an array without a length: `.param .b8 rest[]`."""
    return None in declaration.declarators[0].dimensions[:1]


def is_call(match: Match) -> bool:
    """Returns whether an instruction calls a function."""
    return any(isinstance(effect, Control) and effect.kind == "call" for effect in match.effects)


def call_problems(match: Match, instruction: Instruction, scope: TypedScope) -> Iterator[Problem]:
    """Yields all errors of a call whose names are all declared."""
    target = match.operand("f", instruction)
    listed = match.operand("list", instruction)
    if not isinstance(target, Name):
        return
    place = match.roles["f"]
    if "." in target.text and scope.type_of(target.text) != UNKNOWN:
        yield Problem(ptx1xx.CALLEE_IS_VECTOR_ELEMENT(name=clip_text(target.text)), place)
    if listed is None:
        signatures = yield from _direct_signatures(target.text, place, scope)
    else:
        signatures = yield from _indirect_signatures(target.text, place, listed, match.roles["list"], scope)
    for signature in signatures:
        found = list(_compare_call(match, instruction, signature, scope))
        if found:
            yield from found
            return


def _direct_signatures(name: str, place: int, scope: TypedScope) -> _SignatureResult:
    named = scope.find(name)
    kind = scope.type_of(name)
    if kind == FUNCTION and named is not None:
        return [_function_signature(named, name)]
    if kind == UNKNOWN:
        return []
    message = ptx1xx.CALLEE_NOT_CALLABLE(name=clip_text(name), kind=describe_class(kind))
    help_ = declaration_helps.CALL_FUNCTION()
    if kind == "&entry":
        help_ = declaration_helps.CALL_DEVICE_FUNCTION()
    yield Problem(message, place, help=help_, related=_related_binding(named), section=_SECTION)
    return []


def _indirect_signatures(
    name: str, place: int, listed: Operand, list_place: int, scope: TypedScope
) -> _SignatureResult:
    kind = scope.type_of(name)
    if kind not in _POINTERS and kind != UNKNOWN:
        message = ptx1xx.CALLEE_WITH_PROTOTYPE_NOT_A_REGISTER(name=clip_text(name), kind=describe_class(kind))
        help_ = declaration_helps.MOVE_ADDRESS_FIRST()
        yield Problem(message, place, help=help_, related=_related_binding(scope.find(name)), section=_SECTION)
        return []
    if not isinstance(listed, Name):
        return []
    found = scope.type_of(listed.text)
    named = scope.find(listed.text)
    if found not in (PROTOTYPE, CALL_TARGETS) or named is None:
        if found != UNKNOWN:
            message = ptx1xx.CALL_LIST_OF_WRONG_KIND(name=clip_text(listed.text), kind=describe_class(found))
            help_ = declaration_helps.PUT_LIST_ABOVE()
            yield Problem(message, list_place, help=help_, related=_related_binding(named), section=_SECTION)
        return []
    node = named.node
    if isinstance(node, Prototype):
        return [CallSignature(node.results, node.parameters, named, node.label)]
    assert isinstance(node, Directive)
    return [signature for word in node.words for signature in _target_signatures(word, scope)]


def _target_signatures(word: str, scope: TypedScope) -> Iterator[CallSignature]:
    for name in target_names(word):
        target = scope.find(name)
        if target is None:
            return
        if isinstance(target.node, Function):
            yield _function_signature(target, name)


def _function_signature(named: NameBinding, name: str) -> CallSignature:
    function = named.node
    assert isinstance(function, Function)
    return CallSignature(function.results, function.parameters, named, name)


def _related_binding(named: NameBinding | None) -> tuple[NameBinding, Message] | None:
    return (named, declaration_helps.DECLARED_HERE()) if named is not None else None


def _compare_call(
    match: Match, instruction: Instruction, signature: CallSignature, scope: TypedScope
) -> Iterator[Problem]:
    for role, formals, what in (
        ("results", signature.results, "result"),
        ("parameters", signature.parameters, "argument"),
    ):
        given = match.operand(role, instruction)
        actuals = given.elements if isinstance(given, Arguments) else ()
        place = match.roles.get(role, match.roles["f"])
        may_lack = what == "argument" and signature.is_open
        if len(actuals) != len(formals) and not (may_lack and len(actuals) == len(formals) - 1):
            yield _wrong_number(signature, what, len(formals), len(actuals), place)
            continue
        for formal, actual in zip(formals, actuals, strict=False):
            wrong = _wrong_argument(formal, actual, scope, is_result=what == "result")
            if wrong is not None:
                name = formal.declarators[0].name
                shown = f"`{clip_text(name)}`" if name != "_" else f"a `{declaration_text(formal)}`"
                message = ptx1xx.ARGUMENT_DOES_NOT_FIT(
                    role=what, argument=shown, function=clip_text(signature.display_name), reason=wrong
                )
                yield _mismatch_problem(message, place, signature)


def _wrong_number(signature: CallSignature, what: str, wanted: int, found: int, place: int) -> Problem:
    asked = "no " + what if not wanted else f"{wanted} {what}" + ("s" if wanted > 1 else "")
    message = ptx1xx.ARGUMENT_COUNT_DIFFERS(
        function=clip_text(signature.display_name), expected=asked, given=found or "none"
    )
    return _mismatch_problem(message, place, signature)


def _mismatch_problem(message: Message, place: int, signature: CallSignature) -> Problem:
    related = (signature.binding, declaration_helps.DECLARED_HERE())
    return Problem(message, place, help=_expected_call(signature), related=related, section=_SECTION)


def _expected_call(signature: CallSignature) -> Message:
    """Returns a call that would fit."""
    results = ", ".join(map(declaration_text, signature.results))
    parameters = ", ".join(map(declaration_text, signature.parameters))
    head = f"({results}), " if results else ""
    return declaration_helps.TAKES_CALL(call=clip_text(f"call {head}{signature.display_name}, ({parameters})"))


def declaration_text(declaration: Declaration) -> str:
    """Returns the text of a parameter: `.param .align 8 .b8 x[16]`."""
    (declarator,) = declaration.declarators[:1]
    dimensions = "".join(f"[{'' if length is None else length}]" for length in declarator.dimensions)
    alignment = f".align {declaration.alignment} " if declaration.alignment is not None else ""
    vector = f".{declaration.vector} " if declaration.vector else ""
    return f".{declaration.space} {alignment}{vector}.{declaration.type} {declarator.name}{dimensions}"


def _wrong_argument(formal: Declaration, actual: Operand, scope: TypedScope, *, is_result: bool) -> Message | None:
    if not isinstance(actual, Name):
        constant = kind_of(actual)
        return (
            argument_mismatch(formal, constant=constant)
            if constant is not None
            else operand_reasons.MUST_BE_NAME_OR_CONSTANT()
        )
    if actual.text == "_":
        return None if is_result else operand_reasons.CANNOT_BE_LEFT_OUT()
    if actual.text == "WARP_SZ":
        return argument_mismatch(formal, constant="i")
    kind = scope.type_of(actual.text)
    if kind == UNKNOWN:
        return None
    if kind == SPECIAL:
        return operand_reasons.SPECIAL_REGISTER_NOT_READ()
    named = scope.find(actual.text)
    if named is None:
        return operand_reasons.MUST_BE_WHOLE_REGISTER()
    if kind in PARAMETERS and kind != "&argument":
        return operand_reasons.COPY_ARGUMENT_FIRST(kind=describe_class(kind))
    if is_symbol(kind) and kind != "&argument":
        return operand_reasons.ARGUMENT_OF_WRONG_KIND(kind=describe_class(kind))
    assert isinstance(named.node, Declaration)
    declarator = named.declarator(actual.text) or named.node.declarators[0]
    return argument_mismatch(formal, actual=(named.node, declarator))
