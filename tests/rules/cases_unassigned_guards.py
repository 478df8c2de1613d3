"""PTX652: guards to which no path assigns a value, and how sure it is that a thread comes to them."""

from __future__ import annotations

from tests.rules.support import Case

FLAG = "ld.global.u32 %r10, [%rd1];"

CASES = (
    Case("a branch on a predicate that nothing assigns", "@%p4 bra END; //! PTX652\nst.global.u32 [%rd2], %r1;\nEND:"),
    Case(
        "a loop that waits for a predicate that nothing assigns",
        "WAIT: @!%p4 bra WAIT; //! PTX652",
    ),
    Case(
        "a use before the only assignment",
        "@%p4 bra END; //! PTX652\nsetp.eq.u32 %p4, %r1, 0;\nEND:",
    ),
    Case(
        "an assignment in an earlier round",
        "LOOP: @%p4 bra END;\nsetp.ge.u32 %p4, %r1, 0;\nbra LOOP;\nEND:",
    ),
    Case(
        "an assignment that is not always executed",
        f"{FLAG}\n@%p1 setp.eq.u32 %p4, %r10, 0;\n@%p4 bra END;\nEND:",
    ),
    Case("a use to which no path leads", "bra END;\n@%p4 st.global.u32 [%rd2], 1;\nEND:"),
    Case(
        "a use to which only some arguments lead",
        f"{FLAG}\nsetp.gt.u32 %p3, %r6, 77; @!%p3 bra END;\n@%p4 st.global.u32 [%rd2], %r10; //! PTX652\nEND:",
    ),
    Case(
        "a use to which no execution comes",
        """setp.gt.u32 %p3, %r6, 77; @!%p3 bra END;
setp.lt.u32 %p3, %r6, 9; @!%p3 bra END;
@%p4 bra END; //? PTX652
st.global.u32 [%rd2], %r1;
END:""",
    ),
)
