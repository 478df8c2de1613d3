"""The properties of a kernel that the builder and the device layer share.

The package holds the scalar types, the form of a tensor map, a kernel's parameters, the assembled module with the
user's Python lines, and the verification whose errors point at those lines. `routines` defines, as Protocols, the
interface of a kernel of the builder that the device layer uses.

The device layer is below the builder: it compiles and launches anything that satisfies these Protocols and never
imports `ptxkit.build`. The builder imports `ptxkit.device` inside the functions that compile or launch, so that
building needs no CUDA. A registry that the device layer fills would need no such import, but a program that imports
only `ptxkit.build` could then not launch.

It may import `ptxkit.syntax` and, to verify, `ptxkit.linter`.
"""
