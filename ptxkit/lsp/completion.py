"""Completion: an opcode, a modifier that leads to an instruction, a name, a directive or a type."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Gate
from ptxkit.isa.opcode_completion import complete_opcode
from ptxkit.isa.targets import target_words, unmet_gates
from ptxkit.isa.wording import describe_gate
from ptxkit.lsp.cursor_context import CursorContext, context_at
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.instructions import target_of
from ptxkit.lsp.limits import MAX_COMPLETION_ITEMS, MAX_NUMBERED_REGISTERS
from ptxkit.mangled_names import short_name
from ptxkit.semantics.symbols import ENTRY, FUNCTION, LABEL, PARAMETERS, is_code, is_symbol
from ptxkit.source import Span
from ptxkit.syntax.tree import Module
from ptxkit.validate.name_problems import describe_class
from ptxkit.validate.typed_scope import TypedScope

TRIGGERS = [".", "%", "@", "$", ":", "["]
"""Characters after which an editor requests completions automatically."""

_Kind = types.CompletionItemKind


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One completion. order: the lower, the earlier it is listed."""

    word: str
    kind: types.CompletionItemKind
    detail: str = ""
    order: int = 0
    description: str = ""


def completions_at(text: TextSnapshot, position: types.Position) -> types.CompletionList | None:
    """Returns the completions at a position, or None if none exist, as in a comment."""
    written = context_at(text.text, text.lines.offset(position))
    if written is None:
        return None
    names = text.tolerant_parse.names
    module = names.module if names is not None else None
    scope = names.scope_at(written.start) if names is not None else TypedScope()
    found = [offer for offer in _candidates(written, module, scope) if offer.word.startswith(written.word)]
    place = text.lines.range(Span(written.start, written.end))
    items = [_completion_item(offer, place) for offer in found[:MAX_COMPLETION_ITEMS]]
    return types.CompletionList(is_incomplete=len(found) > MAX_COMPLETION_ITEMS, items=items)


def _completion_item(offer: _Candidate, place: types.Range) -> types.CompletionItem:
    return types.CompletionItem(
        offer.word,
        kind=offer.kind,
        detail=offer.detail or None,
        documentation=offer.description or None,
        sort_text=f"{offer.order:02}{offer.word}",
        filter_text=offer.word,
        text_edit=types.TextEdit(place, offer.word),
    )


def _candidates(written: CursorContext, module: Module | None, scope: TypedScope) -> Iterator[_Candidate]:
    match written.kind:
        case "opcode":
            yield from _opcodes()
        case "modifier":
            yield from _modifiers(written.opcode, module)
        case "guard":
            yield from _names(written, scope, {"pred"})
        case "operand":
            yield from _operands(written, module, scope)
        case "directive":
            yield from _directives(inside=scope.outer is not None)
        case "type":
            yield from _types(written.opcode)
        case "heading":
            yield from _headings(written.opcode)


# ------------------------------------------------------------------------------------------------- instructions


def _opcodes() -> Iterator[_Candidate]:
    for name in table().names:
        forms = table().forms(name)
        yield _Candidate(name, _Kind.Keyword, forms[0].section, description=forms[0].summary)


def _modifiers(opcode: str, module: Module | None) -> Iterator[_Candidate]:
    version, target = (module.version, target_of(module)) if module is not None else (None, None)
    for place, found in enumerate(complete_opcode(opcode)):
        closed = found.unmet_gates(version, target)
        gates = closed or table().value_gates.get(found.word, ())
        detail = "; ".join(dict.fromkeys(f"needs {describe_gate(gate)}" for gate in gates))
        detail += f" (the module has {target_words(version, target)})" if closed else ""
        forms = "\n".join(form.syntax.removeprefix("form ") for form in found.forms[:3])
        yield _Candidate(f".{found.word}", _Kind.EnumMember, detail, min(place, 40) + 50 * bool(closed), forms)


def _operands(written: CursorContext, module: Module | None, scope: TypedScope) -> Iterator[_Candidate]:
    """Yields the names that are valid as an operand, with those of the type that the forms require first."""
    kinds: set[str] = set()
    wanted: set[str] = set()
    spaces: set[str] = set()
    for match in table().candidates(written.opcode):
        if written.operand < len(match.operands):
            operand = match.operands[written.operand]
            kinds.add(operand.kind)
            kind = getattr(operand.type, "value", None)
            if isinstance(kind, str):
                wanted.add(kind)
            space = getattr(operand.space, "value", None)
            if isinstance(space, str):
                spaces.add(space.partition("::")[0])
    if kinds and kinds <= {"label"}:
        yield from _names(written, scope, {LABEL})
    elif written.address:
        yield from _address_bases(written, scope, spaces)
    elif kinds and kinds <= {"function"}:
        yield from _names(written, scope, {FUNCTION, ENTRY})
    else:
        yield from _names(written, scope, None, wanted)
        version, target = (module.version, target_of(module)) if module is not None else (None, None)
        for special in table().specials:
            gate = Gate(special.name, special.requirements)
            closed = bool(special.requirements) and bool(unmet_gates((gate,), version, target))
            detail = (
                f"special register, .{special.type}"
                + f"; needs {describe_gate(Gate('', special.requirements))}" * closed
            )
            for part in [f"{special.name}.{axis}" for axis in "xyz"] if special.vector else [special.name]:
                yield _Candidate(part, _Kind.Constant, detail, 8 + closed)


def _address_bases(written: CursorContext, scope: TypedScope, spaces: set[str]) -> Iterator[_Candidate]:
    """Yields the names with which an address can begin: first variables of the instruction's state spaces, then
    registers, then other variables.
    """
    for name in dict.fromkeys(_visible(scope, written.word)):
        kind = scope.type_of(name)
        description = short_name(name)
        shown = description if description != name else ""
        if is_symbol(kind) and not is_code(kind):
            held = "param" if kind in PARAMETERS else kind.removeprefix("&")
            order = 1 if not spaces & _SPACES or held in spaces else 3
            yield _Candidate(name, _Kind.Field, str(describe_class(kind)), order, shown)
        elif kind in _ADDRESS_TYPES:
            yield _Candidate(name, _Kind.Variable, str(describe_class(kind)), 2, shown)


_SPACES = frozenset({"shared", "global", "local", "const", "param"})
"""State spaces in which variables are declared; an address in another one, such as the generic one, begins with any."""
_ADDRESS_TYPES = frozenset(f"{kind}{size}" for kind in "bus" for size in (32, 64))


def _names(
    written: CursorContext, scope: TypedScope, kinds: set[str] | None, wanted: set[str] | None = None
) -> Iterator[_Candidate]:
    """Yields the names that can be used in a scope, of some classes, or of all for None."""
    for name in dict.fromkeys(_visible(scope, written.word)):
        kind = scope.type_of(name)
        if kinds is None or kind in kinds:
            known = _Kind.Variable if kind[0] != "&" else _KINDS.get(kind, _Kind.Field)
            yield _Candidate(name, known, str(describe_class(kind)), 1 if wanted and kind in wanted else 2)


_KINDS = {LABEL: _Kind.Reference, FUNCTION: _Kind.Function, ENTRY: _Kind.Function}


def _visible(scope: TypedScope, begun: str) -> Iterator[str]:
    """Yields the names with a prefix; of many numbered registers the first ones, and those whose number begins with
    it.
    """
    for at in scope.enclosing():
        yield from at.names
        for prefix, (count, _) in at.numbered.items():
            digits = begun.removeprefix(prefix) if begun.startswith(prefix) else ""
            first = int(digits) if digits.isdecimal() and len(digits) < 9 else 0
            yield from (f"{prefix}{number}" for number in range(min(count, MAX_NUMBERED_REGISTERS)))
            if digits:
                tens = [first * 10 + last for last in range(10)]
                yield from (f"{prefix}{number}" for number in [first, *tens] if number < count)


# ------------------------------------------------------------------------------------------------- directives

_BODY_PLACES = {"body", "entry_body", "variable"}


def _directives(*, inside: bool) -> Iterator[_Candidate]:
    """Yields directives, and the state spaces with which declarations begin."""
    module = table().module
    for form in module.directives:
        places = set(form.places)
        if bool(places & _BODY_PLACES) if inside else places - {"body", "entry_body"}:
            yield _Candidate(f".{form.name}", _Kind.Keyword, form.section, description=form.summary)
    spaces = dict.fromkeys(space for each in module.types for space in each.spaces)
    for space in spaces:
        yield _Candidate(f".{space}", _Kind.Keyword, "state space")
    if not inside:
        for name in ("version", "target", "entry", "func"):
            yield _Candidate(f".{name}", _Kind.Keyword, "directive")


def _types(space: str) -> Iterator[_Candidate]:
    """Yields the types of variables in a state space, their alignment and vectors."""
    for each in table().module.types:
        if space in each.spaces:
            yield _Candidate(f".{each.name}", _Kind.TypeParameter, f"type of .{space} variables", 1)
    for word in ("align", "v2", "v4", "ptr"):
        if word != "ptr" or space == "param":
            yield _Candidate(f".{word}", _Kind.Keyword, "", 2)


def _headings(directive: str) -> Iterator[_Candidate]:
    """Yields the versions, or the targets and their options, the newest first."""
    module = table().module
    if directive == "version":
        for place, (major, minor) in enumerate(reversed(module.versions)):
            yield _Candidate(f"{major}.{minor}", _Kind.Value, "version of PTX", place)
        return
    for place, target in enumerate(reversed(module.targets)):
        needs = "; ".join(f"needs {describe_gate(gate)}" for gate in target.gates)
        yield _Candidate(target.name, _Kind.Value, needs or target.description, min(place, 98))
    for option in module.options:
        yield _Candidate(option.name, _Kind.Keyword, option.summary, 99)
