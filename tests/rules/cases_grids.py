"""PTX604: memory that is read before a grid waits for those on which it depends, and again after that."""

from __future__ import annotations

from tests.rules.support import Case

WAIT = "griddepcontrol.wait;"
COPY = "cp.async.ca.shared.global [%r4], [%rd1], 16;"
DONE = "cp.async.wait_all;"


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
)
