"""`ptxkit-ptxas`: checks the PTX that a compiler passes to ptxas, then runs the real ptxas with the same arguments.

`main` is the program. `command_line` finds the inputs, `standard_input` keeps what is read from it, and `real_ptxas`
finds the program to run. `input_check` is imported only for inputs that are not known to be clean: it checks them,
reports what is found, and decides whether ptxas runs.

Input: the command line of ptxas, and variables of the environment. Output: that of ptxas, after a report of the
findings. It imports `batch`, `settings`, `report`, `rules` and the output functions of `cli`; before the cache of clean
texts is queried, only modules that load quickly.
"""

from __future__ import annotations
