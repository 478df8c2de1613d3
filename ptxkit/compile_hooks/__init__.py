"""Checks each kernel that compilers of Python programs compile, while the program runs.

    import ptxkit

    ptxkit.watch()

`watch` installs a hook for each compiler: each is a module of this package with the name of the compiler. They are
installed when the compiler is imported (`post_import`), and pass the PTX to `background_linter`, which checks it in
another process, and prints findings. `program` runs a program in this way.

Input: the interfaces of the compilers, which are never imported here. Output: findings on standard error. It imports
`batch`, `baseline` and `report`, and nothing of them before the first kernel.
"""

from __future__ import annotations

from ptxkit.compile_hooks.watching import watch

__all__ = ["watch"]
