"""Makes text of unknown origin (names of files, lines of programs, their messages) safe to print.

A terminal interprets control characters, and a log reader treats a line end as the end of a message: GitHub, for
example, executes every line that begins with `::`. So both are escaped if such a text is printed as a part of a line.
"""

from __future__ import annotations


def escape_text(text: str) -> str:
    """Returns the text with every character escaped that a terminal would interpret, or not show, and line ends.

    Tabs are kept, since the code that prints a line must expand them. A byte that was not UTF-8 is a lone surrogate
    here (`surrogateescape`) and is shown as the original byte.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\t" else _escape(char) for char in text)


def escape_lines(text: str) -> str:
    """Returns a text of several lines escaped, except for the line feeds between them."""
    return "\n".join(map(escape_text, text.split("\n")))


def escape_path(path: str) -> str:
    """Returns the path of a file for the beginning of a line: it is not a workflow command of GitHub, whatever the name
    of the file is.
    """
    return escape_text(f"./{path}" if path.startswith(("::", "##[")) else path)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
