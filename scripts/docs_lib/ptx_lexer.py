"""Colors PTX in code blocks: Pygments' own lexer ends a word at `::` and knows few opcodes."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.lexers import LEXERS
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["ModularPtxLexer"]

_IDENTIFIER = r"[A-Za-z_$%][\w$]*"
_WORD = r"\.[A-Za-z_]\w*(?:::\w+)*"


class ModularPtxLexer(RegexLexer):
    """An instruction is an opcode and its modifiers; a directive is a word with a dot where a statement begins."""

    name = "PTX"
    aliases: ClassVar = ["ptx"]
    tokens: ClassVar = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r"/\*.*?\*/", Comment.Multiline),
            (r'"[^"\n]*"', String),
            (r"\s+", Text),
            (rf"(@!?)({_IDENTIFIER})", bygroups(Operator, Name.Variable)),
            (rf"({_IDENTIFIER})(:)(?!:)", bygroups(Name.Label, Punctuation)),
            (rf"\.\.\.|{_WORD}", Keyword.Type),
            (rf"([a-z]\w*)((?:{_WORD})*)(?=[\s;])(?!\s*=)", bygroups(Keyword, Name.Function), "operands"),
            (r"[{}]", Punctuation),
            (r"", Text, "operands"),
        ],
        "operands": [
            (r"//[^\n]*", Comment.Single),
            (r"/\*.*?\*/", Comment.Multiline),
            (r"[;{]", Punctuation, "#pop"),
            (r"}", Punctuation),
            (r'"[^"\n]*"', String),
            (r"%(?:tid|ntid|ctaid|nctaid|clusterid|cluster_\w+|laneid|warpid|clock\w*)(?:\.[xyzw])?\b", Name.Builtin),
            (r"%[\w$]+", Name.Variable),
            (r"0[fFdDxX][0-9A-Fa-f]+U?|-?\d+(?:\.\d+)?U?", Number),
            (_WORD, Keyword.Type),
            (r"[A-Za-z_$][\w$]*", Name),
            (r"[\[\](),<>|=+*:!?-]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ],
    }


def register() -> None:
    """Let Pygments use this lexer for `ptx`."""
    LEXERS["PtxLexer"] = (__name__, "PTX", ("ptx",), ("*.ptx",), ())
