"""What the grammar would have taken instead, in words that a reader of PTX knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ptxkit.syntax.limits import MAX_ALTERNATIVES

_OPERAND = frozenset({"IDENT", "INT", "BITS", "FLOAT", "LSQB", "LBRACE"})
_CONSTANT = frozenset({"INT", "BITS", "FLOAT"})
_OPERAND_PREFIXES = frozenset({"-", "+", "!", "~", "("})
_OPERATORS = frozenset(
    {"||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%", "?"}
)
_MODIFIERS = frozenset({".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex", ".weak"})
_LINKAGES = frozenset({".extern", ".visible", ".weak", ".common"})
_TERMINALS = {
    "IDENT": "a name",
    "INT": "an integer",
    "FLOAT": "a number with a decimal point",
    "BITS": "a floating-point constant",
    "STRING": 'a string in `"`',
    "DOT": "a type or a modifier",
    "DWARF_LINE": "`@@DWARF`",
    "SOURCE_SECTION": "`.nv_intermediate_source_section`",
    "$END": "the end of the statement",
}
_CLOSING = (";", ",", ")", "]", "}", ":")


class TerminalNames:
    """The names of the grammar's terminals, as a reader would call them."""

    def __init__(self, spelling: Mapping[str, str]) -> None:
        self._spelling = {**spelling, "_DIVIDE": "/"}

    def spellings(self, accepted: Collection[str]) -> frozenset[str]:
        """The terminals by their spelling, where they have one."""
        return frozenset(self._spelling.get(name, name) for name in accepted)

    def describe_expected(self, accepted: Collection[str], symbol: str) -> str:
        """`` `,` or `;` ``, `an operand`, ...: what could stand there in a `symbol`, shortened to what matters."""
        words = set(self.spellings(accepted)) - {"\\"}  # which is tolerated, and never to be recommended
        if "INT" in words:
            words.discard("WARP_SZ")
        if symbol == "header" and "$END" in words:
            words = (words - {"$END", "DOT", ".pragma", ".attribute"}) | {"{", "a directive such as `.maxntid`"}
        if ".align" in words:
            words = (words - {"DOT", ".attribute", ".ptr"}) | {"a type"}
        phrases: list[str] = []
        if words >= _OPERAND - {"LBRACE", "LSQB"} and "{" in words:
            phrases.append("an operand")
            words -= _OPERAND | _OPERAND_PREFIXES | {"{", "["}
        elif words >= _CONSTANT:
            phrases.append("a constant")
            words -= _OPERAND | _OPERAND_PREFIXES
        if words >= _LINKAGES | {".entry"}:
            return "a declaration, a function or another directive"
        if words >= _MODIFIERS - {".weak"} and phrases:
            words -= _MODIFIERS | {"DOT"}
        elif words >= _MODIFIERS - {".weak"}:
            phrases.append("a state space such as `.reg` or `.shared`")
            words -= _MODIFIERS
        if any(mark in words for mark in (*_CLOSING, "$END")):
            words -= _OPERATORS | {"[", "(", "=", "DOT"} if ";" in words or "," in words else _OPERATORS
        closing = [mark for mark in _CLOSING if mark in words]
        if closing:
            words.discard("$END")
        phrases = [f"`{mark}`" for mark in closing] + phrases
        for word in sorted(words - set(closing)):
            phrases.append(word if " " in word else _TERMINALS.get(word, f"`{word}`"))
        return _join_alternatives(phrases)


def _join_alternatives(phrases: list[str]) -> str:
    if not phrases:
        return "nothing more"
    if len(phrases) > MAX_ALTERNATIVES:
        phrases = [*phrases[:MAX_ALTERNATIVES], "..."]
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} or {phrases[-1]}"
