"""Checks of statements that the grammar of the notation accepts although they are meaningless, whatever the forms are.

They find empty ranges, contradictory gates, unknown types and state spaces, calls with too few arguments, invalid words
in a field of an effect, and lines in places if they are not read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator

from lark import Token, Tree

from ptxkit.isa.effect_binding import ACCESS_KINDS, ROLE_FIELDS, effect_classes, effect_fields
from ptxkit.isa.effect_vocabulary import SPACES, allowed_words
from ptxkit.isa.functions import FUNCTIONS, VALUE_OPERATIONS, is_type
from ptxkit.isa.module_forms import INITIAL, PLACES

Fail = Callable[[str, "Tree[Token] | Token"], Exception]

_FAMILY = re.compile(r"sm_\d+[af]?|texmode_\w+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*|0x[0-9A-Fa-f]+)")
_PARTS = re.compile(r"\d+")
_MODULE_LINES = {
    "directive": frozenset({"gate", "summary", "excludes", "companions", "idle", "once", "first"}),
    "pragma": frozenset({"gate", "summary", "excludes", "once"}),
    "option": frozenset({"gate", "excludes"}),
    "datatype": frozenset({"gate", "initial", "fields", "symbols"}),
    "feature": frozenset({"gate"}),
    "versions": frozenset[str](),
    "target": frozenset[str](),
}
"""The heads of module descriptions, and the lines that may follow each."""

_CONDITION_ARGUMENTS: dict[str, tuple[int, ...]] = {
    "and": (),
    "implies": (0, 1),
    **dict.fromkeys(("when", "condition", "not", "if"), (0,)),
    **dict.fromkeys(("operand", "allowed_if"), (1,)),
}
"""The children that are conditions; none for all of them."""

MODULE_LINES = frozenset[str]().union(*_MODULE_LINES.values()) - {"gate", "summary"}
"""Lines that belong to such a head and never to a form."""

_FORM_LINES = frozenset(
    {"variable", "when", "let", "need", "tolerate", "effect", "value", "means"} | {"gate", "summary"}
)


def check_notation(tree: Tree[Token], fail: Fail) -> None:
    """Raises the error of `fail` for the first meaningless statement."""
    _check_lines(tree, fail)
    checks = {
        "requirement": _check_requirement,
        "target": _check_target,
        "datatype": _check_datatype,
        "directive": _check_places,
        "pragma": _check_places,
        "initial": _check_places,
        "values": _check_values,
        "immediate_range": _check_range,
        "immediate_from": _check_range,
        "slot": _check_slot,
        "space": _check_space,
        "alignment": _check_alignment,
        "call": _check_call,
        "effect": _check_effect,
        "sum": _check_numbers,
        "product": _check_numbers,
        "compare": _check_numbers,
        **dict.fromkeys(_CONDITION_ARGUMENTS, _check_truth),
    }
    for token in tree.scan_values(lambda each: isinstance(each, Token)):
        if token.type in ("INT", "NUMBER") and not _NUMBER.fullmatch(token):
            raise fail(f"{token} is no number: a zero in front means nothing", token)
        if not token.isascii() and token.type != "STRING":
            raise fail(f"{token} has a character that PTX does not know", token)
    for node in tree.iter_subtrees():
        check = checks.get(str(node.data))
        if check is not None:
            check(node, fail)
    specials = [token for node in tree.find_data("special") for token in node.children if isinstance(token, Token)]
    _check_series([token for token in specials if token.type == "SPECIAL"], fail)
    _check_once([token for token in specials if token.type == "SPECIAL"], fail)


def _check_lines(tree: Tree[Token], fail: Fail) -> None:
    """Lines before the first section and lines after a directive, which are not read."""
    head, in_section = "", False
    for node in tree.children:
        assert isinstance(node, Tree)
        kind = str(node.data)
        if kind in _MODULE_LINES:
            head = kind
        elif kind in ("section", "form"):  # a directive is in a section, too
            head, in_section = "", True
        elif kind in _FORM_LINES | MODULE_LINES:
            if head and kind not in _MODULE_LINES[head]:
                raise fail(f"`{kind}` has no meaning for a {head}", node)
            if not head and not in_section and not _is_common_gate(node):
                raise fail(f"`{kind}` precedes all sections", node)


def _is_common_gate(node: Tree[Token]) -> bool:
    return node.data == "gate" and node.children[0] is not None


def _check_target(node: Tree[Token], fail: Fail) -> None:
    for name in node.children:
        if isinstance(name, Token) and not _FAMILY.fullmatch(name):
            raise fail(f"{name} is no target; write sm_90, sm_90a or sm_100f", name)


def _check_places(node: Tree[Token], fail: Fail) -> None:
    known = INITIAL if node.data == "initial" else PLACES
    for word in (token for places in node.find_data("places") for token in places.children):
        if str(word) not in known:
            raise fail(
                f"{word} is no {'initial value' if known is INITIAL else 'place'}; known: {_quote_list(known)}", word
            )


def _check_datatype(node: Tree[Token], fail: Fail) -> None:
    for words in node.children[1:]:
        for word in words.children if isinstance(words, Tree) else ():
            if str(word).removeprefix(".") not in SPACES | {"reg", "sreg"}:
                raise fail(f"{word} is no state space", word)


def _check_requirement(node: Tree[Token], fail: Fail) -> None:
    bounds: dict[tuple[str, str], tuple[int, ...]] = {}
    for part in node.children:
        if isinstance(part, Token):
            if not _FAMILY.fullmatch(part):
                raise fail(f"{part} is no target; write sm_90a, sm_100f or sm>=90", part)
            continue
        bound, value = part.children
        key = (str(part.data), str(bound))
        if key in bounds:
            raise fail("this bound is given twice", part)
        bounds[key] = tuple(int(number) for number in _PARTS.findall(str(value)))
    for kind in ("version", "minimum"):
        low, high = bounds.get((kind, ">=")), bounds.get((kind, "<"))
        if low is not None and high is not None and high <= low:
            raise fail("nothing is that new and that old", node)
    _check_once([part for part in node.children if isinstance(part, Token)], fail)


def _check_values(node: Tree[Token], fail: Fail) -> None:
    tokens = [child for child in node.children if isinstance(child, Token)]
    _check_series(tokens, fail)
    _check_once(tokens, fail)


def _check_series(tokens: list[Token], fail: Fail) -> None:
    for token in tokens:
        if "{" in token:
            low, high, *step = (int(number) for number in _PARTS.findall(token[token.index("{") : token.index("}")]))
            if low > high or step == [0]:
                raise fail("this series has no members", token)


def _check_once(tokens: list[Token], fail: Fail) -> None:
    seen: set[str] = set()
    for token in tokens:
        if str(token) in seen:
            raise fail(f"{token} is given twice", token)
        seen.add(str(token))


def _check_range(node: Tree[Token], fail: Fail) -> None:
    """`#low..high step n` or `#low.. step n`."""
    numbers = [None if child is None else int(str(child), 0) for child in node.children]
    low, high = numbers[0], numbers[1] if node.data == "immediate_range" else None
    if numbers[-1] == 0 and len(numbers) > (2 if node.data == "immediate_range" else 1):
        raise fail("a step of 0 leads nowhere", node)
    if low is not None and high is not None and low > high:
        raise fail("this range has no members", node)


def _check_slot(node: Tree[Token], fail: Fail) -> None:
    _, _, kind, *rest = node.children
    if isinstance(kind, Tree) and kind.data == "word" and not is_type(str(kind.children[0])[1:]):
        raise fail(f"{kind.children[0]} is no type", kind)
    _check_once([part for part in rest if isinstance(part, Token)], fail)


def _check_space(node: Tree[Token], fail: Fail) -> None:
    (word,) = node.children
    if isinstance(word, Tree) and word.data == "word" and str(word.children[0])[1:] not in SPACES:
        raise fail(f"{word.children[0]} is no state space; known: {_add_dots(SPACES)}", word)


def _check_alignment(node: Tree[Token], fail: Fail) -> None:
    (number,) = node.children
    if isinstance(number, Tree) and number.data == "integer":
        value = int(str(number.children[0]), 0)
        if value < 1 or value & (value - 1):
            raise fail("an alignment is a power of two", number)


def _check_truth(node: Tree[Token], fail: Fail) -> None:
    for place in _CONDITION_ARGUMENTS[str(node.data)] or range(len(node.children)):
        part = node.children[place]
        if node.data == "allowed_if" and node.children[0] == "space":
            _check_space(Tree("space", [part]), fail)
        elif isinstance(part, Tree) and part.data in ("word", "string", "integer", "signed"):
            raise fail(f"{part.children[-1]} is neither true nor false", part)


def _check_numbers(node: Tree[Token], fail: Fail) -> None:
    left, sign, right = node.children
    for part in (left, right):
        if (
            str(sign) not in ("==", "!=")
            and isinstance(part, Tree)
            and part.data in ("word", "string", "true", "false")
        ):
            raise fail("this is no number", part)


def _check_call(node: Tree[Token], fail: Fail) -> None:
    name, *arguments = node.children
    given = len([argument for argument in arguments if argument is not None])
    known = str(name)
    if known in FUNCTIONS:
        least, most = _argument_counts(FUNCTIONS[known])
    elif known in VALUE_OPERATIONS or known == "invert":
        least = most = VALUE_OPERATIONS["not" if known == "invert" else known]
    elif known in ("present", "default"):
        least = most = 1 if known == "present" else 2
    else:
        return  # the code that resolves the name reports it
    if not least <= given <= most:
        wanted = str(least) if least == most else f"at least {least}"
        raise fail(f"{known} takes {wanted} argument{'s' if wanted != '1' else ''}, and has {given}", node)


def _argument_counts(function: Callable[..., object]) -> tuple[int, int]:
    """Returns the least and the most arguments that a function accepts."""
    if not inspect.isfunction(function):
        return 2, 1 << 16  # min and max
    parameters = inspect.signature(function).parameters.values()
    least = sum(each.kind is not each.VAR_POSITIONAL and each.default is each.empty for each in parameters)
    return least, 1 << 16 if any(each.kind is each.VAR_POSITIONAL for each in parameters) else len(parameters)


def _check_effect(node: Tree[Token], fail: Fail) -> None:
    name = str(node.children[0])
    if name not in ACCESS_KINDS and name not in effect_classes():
        return  # the code that builds the effect reports it
    types = {each.name: str(each.type) for each in effect_fields(name)}
    for field, value in _fields(node, list(types)):
        legal = allowed_words(name, field)
        for word in _results(value):
            is_word = word.data in ("word", "string")
            text = str(word.children[0]).strip('"').removeprefix(".") if is_word else ""
            if legal is not None and is_word and text not in legal:
                raise fail(f"{field} is never {word.children[0]}; known: {_add_dots(legal)}", word)
            is_wrong = is_word and legal is None and field not in ROLE_FIELDS and field in types
            if is_wrong or (types.get(field) == "bool" and word.data in ("integer", "signed")):
                raise fail(f"{field} of {name} holds no such thing", word)
            if types.get(field) not in ("bool", None) and word.data in ("true", "false"):
                raise fail(f"{field} of {name} is no truth value", word)


def _fields(node: Tree[Token], names: list[str]) -> Iterator[tuple[str, Tree[Token]]]:
    given = node.children[1]
    for position, argument in enumerate(given.children if isinstance(given, Tree) else ()):
        assert isinstance(argument, Tree)
        if argument.data == "named":
            key, value = argument.children
            assert isinstance(value, Tree)
            yield str(key), value
        elif position < len(names):
            yield names[position], argument


def _results(node: Tree[Token]) -> Iterator[Tree[Token]]:
    """Yields the possible results of an expression: the branches of `if`, the alternatives of `or`, else itself."""
    kind = str(node.data)
    inner = node.children[1:] if kind == "if" else node.children if kind == "or" else ()
    if kind == "call" and str(node.children[0]) in ("case", "list"):
        inner = node.children[3::2] + node.children[-1:] if str(node.children[0]) == "case" else node.children[1:]
    if not inner:
        yield node
    for part in inner:
        if isinstance(part, Tree):
            yield from _results(part)


def _quote_list(words: Iterable[object]) -> str:
    return " ".join(sorted(map(str, words)))


def _add_dots(words: frozenset[str]) -> str:
    return " ".join(sorted(f".{word}" for word in words))
