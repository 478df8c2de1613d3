"""PTX604: memory that is read before a grid waits for those on which it depends, and again after that."""

from __future__ import annotations

from tests.rules.support import Case

WAIT = "griddepcontrol.wait;"
COPY = "cp.async.ca.shared.global [%r4], [%rd1], 16;"
DONE = "cp.async.wait_all;"


READ = "ld.global.u32 %r10, [%rd1];"


def _kernels(count: int, wait: str = "") -> str:
    """Other kernels of the module."""
    return "\n".join(
        f".visible .entry other{wait[:4]}{number}(.param .u64 p) {{ .reg .b64 %rd<2>; .reg .b32 %r<11>; {wait}"
        f" ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; {READ} st.global.u32 [%rd1], %r10; ret; }}"
        for number in range(count)
    )


def _strict(name: str, body: str) -> Case:
    return Case(name, body, policy="strict")


CASES = (
    _strict(
        "a word that is read before the wait and after it",
        f"ld.global.u32 %r10, [%rd1]; //? PTX604 again wait\n{WAIT} //= wait\nld.global.u32 %r11, [%rd1]; //= again",
    ),
    Case(
        "the policy isa leaves it to the kernel which words it reads early",
        f"ld.global.u32 %r10, [%rd1];\n{WAIT}\nld.global.u32 %r11, [%rd1];",
    ),
    _strict("two words of one array", f"ld.global.u32 %r10, [%rd1];\n{WAIT}\nld.global.u32 %r11, [%rd1+4];"),
    _strict(
        "a word that is read after the wait only", f"{WAIT}\nld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1];"
    ),
    _strict("a kernel that waits for no grid", "ld.global.u32 %r10, [%rd1]; bar.sync 0; ld.global.u32 %r11, [%rd1];"),
    _strict(
        "a kernel that lets others start is no kernel that waits",
        "ld.global.u32 %r10, [%rd1]; griddepcontrol.launch_dependents; ld.global.u32 %r11, [%rd1];",
    ),
    _strict(
        "a copy to shared memory reads as a load does",
        f"{COPY} //? PTX604 again wait\n{WAIT} //= wait\n{DONE} ld.global.u32 %r11, [%rd1]; //= again",
    ),
    _strict(
        "a generic address leads to the same word",
        f"ld.u32 %r10, [%rd1]; //? PTX604 again wait\n{WAIT} //= wait\nld.global.u32 %r11, [%rd1]; //= again",
    ),
    _strict(
        "another thread reads the word again",
        f"""@%p1 ld.global.u32 %r10, [%rd1]; //? PTX604 again wait
{WAIT} //= wait
@%p2 ld.global.u32 %r11, [%rd1]; //= again""",
    ),
    _strict(
        "a strong read may be meant to observe the writes of others",
        f"ld.relaxed.gpu.global.u32 %r10, [%rd1];\n{WAIT}\nld.global.u32 %r11, [%rd1];",
    ),
    _strict(
        "a barrier after another thread's wait is sufficient",
        f"@%p1 {WAIT}\nbar.sync 0; ld.global.u32 %r10, [%rd1];\n{WAIT}\nld.global.u32 %r11, [%rd1];",
    ),
    Case(
        "most kernels of the module wait, and this one does not", READ, undecided=("PTX604",), before=_kernels(2, WAIT)
    ),
    Case("half of the kernels of the module wait", READ, before=f"{_kernels(2, WAIT)}{_kernels(1)}"),
    Case("all kernels of the module wait", f"{WAIT} {READ}", before=_kernels(2, WAIT)),
    Case("a kernel that only writes needs no wait", "st.global.u32 [%rd1], %r1;", before=_kernels(2, WAIT)),
)
