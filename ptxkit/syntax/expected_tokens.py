"""The tokens that the grammar would have accepted instead, in terms of PTX."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.syntax.limits import MAX_ALTERNATIVES

_OPERAND = frozenset({"IDENT", "INT", "BITS", "FLOAT", "LSQB", "LBRACE"})
_CONSTANT = frozenset({"INT", "BITS", "FLOAT"})
_OPERAND_PREFIXES = frozenset({"-", "+", "!", "~", "("})
_OPERATORS = frozenset(
    {"||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%", "?"}
)
_MODIFIERS = frozenset({".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex", ".weak"})
_LINKAGES = frozenset({".extern", ".visible", ".weak", ".common"})
_TERMINALS: dict[str, str | Message] = {
    "IDENT": syntax_errors.A_NAME(),
    "INT": syntax_errors.AN_INTEGER(),
    "FLOAT": syntax_errors.A_DECIMAL(),
    "BITS": syntax_errors.A_FLOAT(),
    "STRING": syntax_errors.A_STRING(),
    "DOT": syntax_errors.TYPE_OR_MODIFIER(),
    "DWARF_LINE": "`@@DWARF`",
    "SOURCE_SECTION": "`.nv_intermediate_source_section`",
    "$END": syntax_errors.STATEMENT_END(),
    "$TYPE": syntax_errors.A_TYPE(),
    "$DIRECTIVE": syntax_errors.A_DIRECTIVE(),
}
_SORTED_AS = {"$TYPE": "a type", "$DIRECTIVE": "a directive"}
"""The sort keys of phrases, if they are not the words themselves."""

_CLOSING = (";", ",", ")", "]", "}", ":")


class TerminalNames:
    """The names of the grammar's terminals in messages."""

    def __init__(self, spelling: Mapping[str, str]) -> None:
        self._spelling = {**spelling, "_DIVIDE": "/"}

    def spellings(self, accepted: Collection[str]) -> frozenset[str]:
        """Returns the terminals by their spelling, if they have a single one."""
        return frozenset(self._spelling.get(name, name) for name in accepted)

    def expected_phrases(self, accepted: Collection[str], symbol: str) -> list[str | Message]:
        """Returns phrases such as `` `,` or `;` `` and `an operand` for the valid tokens in a `symbol`, with less
        relevant ones omitted.
        """
        words = set(self.spellings(accepted)) - {"\\"}  # which is tolerated, and never recommended
        if "INT" in words:
            words.discard("WARP_SZ")
        if symbol == "header" and "$END" in words:
            words = (words - {"$END", "DOT", ".pragma", ".attribute"}) | {"{", "$DIRECTIVE"}
        if ".align" in words:
            words = (words - {"DOT", ".attribute", ".ptr"}) | {"$TYPE"}
        phrases: list[str | Message] = []
        if words >= _OPERAND - {"LBRACE", "LSQB"} and "{" in words:
            phrases.append(syntax_errors.AN_OPERAND())
            words -= _OPERAND | _OPERAND_PREFIXES | {"{", "["}
        elif words >= _CONSTANT:
            phrases.append(syntax_errors.A_CONSTANT())
            words -= _OPERAND | _OPERAND_PREFIXES
        if words >= _LINKAGES | {".entry"}:
            return [syntax_errors.A_DECLARATION()]
        if words >= _MODIFIERS - {".weak"} and phrases:
            words -= _MODIFIERS | {"DOT"}
        elif words >= _MODIFIERS - {".weak"}:
            phrases.append(syntax_errors.A_STATE_SPACE())
            words -= _MODIFIERS
        if any(mark in words for mark in (*_CLOSING, "$END")):
            words -= _OPERATORS | {"[", "(", "=", "DOT"} if ";" in words or "," in words else _OPERATORS
        closing = [mark for mark in _CLOSING if mark in words]
        if closing:
            words.discard("$END")
        phrases = [*(f"`{mark}`" for mark in closing), *phrases]
        rest = sorted(words - set(closing), key=lambda word: _SORTED_AS.get(word, word))
        return [*phrases, *(_TERMINALS.get(word, f"`{word}`") for word in rest)]


def join_alternatives(phrases: Sequence[str | Message]) -> str:
    """Joins the phrases: `` `,`, `;` or an operand ``."""
    if not phrases:
        return str(syntax_errors.NOTHING_MORE())
    if len(phrases) > MAX_ALTERNATIVES:
        phrases = [*phrases[:MAX_ALTERNATIVES], "..."]
    return " or ".join(filter(None, (", ".join(map(str, phrases[:-1])), str(phrases[-1]))))
