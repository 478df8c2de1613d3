"""Kernels with asynchronous copies in random but correct arrangements, and faults that can be injected into them.

A plan holds the choices (`plan`). The text (`build_context`, `producers`, `main_loop`, `consumers`), the launch and the
expected output (`pipeline`) follow from it. The code that emits a passage states its possible faults (`text_builder`).

Input: a source of choices. Output: text, arguments, expected output and faults. It imports `emulator` and
`testing.oracles`.
"""
