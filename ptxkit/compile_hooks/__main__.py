"""`python -m ptxkit.compile_hooks`: what `ptxkit watch` becomes."""

from __future__ import annotations

from ptxkit.compile_hooks.program import main

main()
