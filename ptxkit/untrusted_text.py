"""Text of unknown origin (names of files, lines of programs, what they say), made safe to print.

A terminal acts on control characters, and a log reader takes a line end for the end of a message: GitHub, for one,
obeys every line that begins with `::`. So both are spelt out, wherever such a text is printed as a part of a line.
"""

from __future__ import annotations


def escape_text(text: str) -> str:
    """The text with every character that a terminal would act on, or not show, spelt as an escape; line ends, too.

    Tabs stay, since the code that prints a line has to expand them. A byte that was not UTF-8 arrives here as a
    lone surrogate (`surrogateescape`) and is shown as the byte it was.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\t" else _escape(char) for char in text)


def escape_lines(text: str) -> str:
    """The same of a text of several lines: the line feeds between them stay."""
    return "\n".join(map(escape_text, text.split("\n")))


def escape_path(path: str) -> str:
    """The path of a file as a line may begin with it: no workflow command of GitHub, whatever the file is called."""
    return escape_text(f"./{path}" if path.startswith(("::", "##[")) else path)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
