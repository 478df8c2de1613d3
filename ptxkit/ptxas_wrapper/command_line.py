"""The PTX inputs in a command line of ptxas.

Each argument that is no option may be an input, and also the value of an option, so that only those files count whose
text is that of a PTX module. Options that name other files are known, because such a file may be PTX as well.

Source: `ptxas --help` of releases 13.0 and 13.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.ptxas_wrapper.limits import MAX_OPTION_FILES
from ptxkit.small_files import UnsuitableFileError, read_small_file

STDIN = "-"
_OUTPUT = ("-o", "--output-file", "-output-file")
_OPTION_FILES = ("-optf", "--options-file", "-options-file")


def possible_inputs(arguments: Sequence[str]) -> list[str]:
    """Returns the arguments that may name inputs, each once, in order; those in files of options as well."""
    found: dict[str, None] = {}
    pending = [iter(arguments)]
    file_count = 0
    while pending:
        argument = next(pending[-1], None)
        if argument is None:
            pending.pop()
            continue
        name, equals, value = argument.partition("=")
        if name in (*_OUTPUT, *_OPTION_FILES):
            value = value if equals else next(pending[-1], "")
            if name in _OPTION_FILES:
                names = value.split(",")[: MAX_OPTION_FILES - file_count]
                file_count += len(names)
                pending += [iter(_options_of(each)) for each in reversed(names)]
        elif argument == STDIN or not argument.startswith("-"):
            found[argument] = None
    return list(found)


def _options_of(path: str) -> Iterator[str]:
    """The options that a file contains; none if it cannot be read, which ptxas reports."""
    import shlex

    try:
        return iter(shlex.split(read_small_file(path).decode("utf-8", "surrogateescape")))
    except (OSError, UnsuitableFileError, ValueError):
        return iter(())
