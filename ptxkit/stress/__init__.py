"""Runs a kernel many times under conditions that change no result of a correct one, and compares the results.

`delay_sites` finds the accesses, copies and synchronization of a module, `delay_instrument` inserts a delay before each
of them, and a `delay_plan` chooses the delays of one launch, so that a module is compiled once. `gpu_backend` and
`gpu_process` run trials on a GPU, with `disturbing_kernels` before and at the same time, and `machine_backend` on the
reference machine. `stress_session` runs trials until one fails and reduces its delays (`minimization`), and
`stress_finding` words the result. `lint_sites` are the sites that the linter's questions concern.

Input: PTX and a launch. Output: a report, and a finding. It imports `analysis`, `emulator`, `device` and `device_runs`.
"""
