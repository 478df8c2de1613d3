"""What the builder and the device layer both know of a kernel.

It holds the scalar types, the form of a tensor map, a kernel's parameters, the assembled module with the user's Python
lines, and the verification whose errors point at those lines. `routines` says as Protocols what the device layer needs
of a kernel that the builder makes.

The device layer lies below the builder: it compiles and launches anything that satisfies these Protocols and never
imports `ptxkit.build`. The builder imports `ptxkit.device` inside the functions that compile or launch, so that
building needs no CUDA. A registry that the device layer fills would need no such import, but `import ptxkit.build`
alone could then not launch.

It may import `ptxkit.syntax` and, to verify, `ptxkit.linter`.
"""
