"""PTX inside other files: fat binaries, objects, libraries, programs, archives of them, and wheels.

`texts_in(file)` gives the PTX texts of one open file, and a `Problem` for each thing that is not as its header says.
Nothing is written, and what is unpacked is bounded (`ptxkit.limits`).
"""

from __future__ import annotations

from ptxkit.inputs.containers import kind_of, texts_in
from ptxkit.inputs.found import Embedded, Found, Passed, Problem, title

__all__ = ["Embedded", "Found", "Passed", "Problem", "kind_of", "texts_in", "title"]
