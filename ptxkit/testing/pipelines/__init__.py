"""Kernels with asynchronous copies in random but correct arrangements, and the faults that can be put into them.

A plan holds the choices (`plan`); from it follow the text (`room`, `fills`, `rounds`, `drains`), the launch and what
the kernel leaves (`kernel`). The writer of each passage says what can be wrong there (`script`).
"""
