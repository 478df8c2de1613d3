"""Accesses at unknown addresses: each open question with the twin that order, or other bytes, settle."""

from __future__ import annotations

from tests.rules.support import Case

#: A word from the host, another one for each thread.
_DATA = "mul.wide.u32 %rd10, %r1, 4; add.s64 %rd10, %rd1, %rd10; ld.global.u32 %r10, [%rd10];"
_MASKED = "and.b32 %r11, %r10, 127; shl.b32 %r11, %r11, 2; add.u32 %r11, %r2, %r11;"

#: Computations of an address in the first 512 bytes of the tile, in %r11, that no analysis reduces to a number.
HIDDEN_ADDRESSES = {
    "a masked index": _MASKED,
    "a remainder": "rem.u32 %r11, %r10, 128; mad.lo.u32 %r11, %r11, 4, %r2;",
    "a bit field": "bfe.u32 %r11, %r10, 3, 7; shl.b32 %r11, %r11, 2; add.u32 %r11, %r2, %r11;",
    "a quotient": "div.u32 %r11, %r10, 0x8000000; mad.lo.u32 %r11, %r11, 4, %r2;",
    "a minimum": "min.u32 %r11, %r10, 127; mad.lo.u32 %r11, %r11, 4, %r2;",
    "a byte": "cvt.u32.u8 %r11, %r10; add.u32 %r11, %r2, %r11; and.b32 %r11, %r11, -4;",
    "a number of bits": "popc.b32 %r11, %r10; shl.b32 %r11, %r11, 2; add.u32 %r11, %r2, %r11;",
    "a permutation of bytes": "and.b32 %r11, %r10, 124; prmt.b32 %r11, %r11, 0, 0x5540; add.u32 %r11, %r2, %r11;",
    "a base from memory": "ld.global.u32 %r11, [%rd1+4096]; shl.b32 %r12, %r1, 2; add.u32 %r11, %r11, %r12;",
    "one of two bases": "setp.eq.u32 %p3, %r10, 7; selp.b32 %r11, %r2, %r8, %p3;"
    " shl.b32 %r12, %r1, 2; add.u32 %r11, %r11, %r12;",
    "the upper half of 64 bits": f"{_MASKED} cvt.u64.u32 %rd11, %r11; shl.b64 %rd11, %rd11, 32;"
    " cvt.u64.u32 %rd12, %r10; or.b64 %rd11, %rd11, %rd12; shr.u64 %rd11, %rd11, 32; cvt.u32.u64 %r11, %rd11;",
    "one of a pair": f"{_MASKED} mov.b64 %rd11, {{%r10, %r11}}; mov.b64 {{%r12, %r11}}, %rd11;",
    "the address of another lane": f"{_MASKED} shfl.sync.idx.b32 %r11, %r11, %r10, 31, -1;",
    "the result of an atomic": "@%p1 st.shared.u32 [%r5], 0; bar.sync 0; atom.shared.inc.u32 %r11, [%r5], 127;"
    " mad.lo.u32 %r11, %r11, 4, %r2;",
}

#: Those that are not proven to be inside the tile.
_UNBOUNDED = dict.fromkeys(
    (
        "a byte",
        "a permutation of bytes",
        "the upper half of 64 bits",
        "one of a pair",
        "the address of another lane",
    ),
    ("PTX207",),
)

_STORE = "st.shared.u32 [%r11], %r10;"
_COPY_OUT = """@!%p1 bra done;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 8192; cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:"""
_FENCE = "fence.proxy.async.shared::cta;"
_OWN_WORD = "shl.b32 %r13, %r1, 2; add.u32 %r13, %r2, %r13;"
_COPY_IN = "cp.async.ca.shared.global [%r4], [%rd1], 16; cp.async.commit_group;"
_READ = "ld.shared.u32 %r14, [%r11]; st.global.u32 [%rd2], %r14;"
_SEND = """@!%p1 bra sent;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 8192; cp.async.bulk.commit_group; {wait}
sent: bar.sync 0;"""

CROSSINGS = tuple(
    case
    for description, address in HIDDEN_ADDRESSES.items()
    for case in (
        Case(
            f"a store to {description} without a fence before the async read",
            f"{_DATA} {address} {_STORE} bar.sync 0; {_COPY_OUT}",
            undecided=(*_UNBOUNDED.get(description, ()), "PTX401"),
        ),
        Case(
            f"a store to {description} with a fence before the async read",
            f"{_DATA} {address} {_STORE} {_FENCE} bar.sync 0; {_COPY_OUT}",
            undecided=_UNBOUNDED.get(description, ()),
        ),
    )
)

#: Those for which some word makes the address equal to a known one, and which are certainly inside the tile.
_CHOSEN = ("a masked index", "a remainder", "a bit field", "a quotient", "a minimum", "one of a pair")
_UNORDERED = f"""{_DATA} //= load
{{address}} {_OWN_WORD} st.shared.u32 [%r13], %r10; //= write
{_READ} {{}}"""

RACES = tuple(
    case
    for description, address in HIDDEN_ADDRESSES.items()
    for case in (
        Case(
            f"a read of {description} that no barrier orders after the stores",
            _UNORDERED.format("//? PTX621 write load" if description in _CHOSEN else "", address=address),
            undecided=(*_UNBOUNDED.get(description, ()), *(() if description in _CHOSEN else ("PTX621",))),
        ),
        Case(
            f"a read of {description} after the barrier",
            f"{_DATA} {address} {_OWN_WORD} st.shared.u32 [%r13], %r10; bar.sync 0; {_READ}",
            undecided=_UNBOUNDED.get(description, ()),
        ),
    )
)

OTHERS = (
    Case(
        "an async read of an unknown part of the tile without a fence",
        f"""{_DATA} {_OWN_WORD} st.shared.u32 [%r13], %r10; bar.sync 0;
and.b32 %r11, %r10, 4080; add.u32 %r11, %r11, %r2;
@!%p1 bra done;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r11], 16; cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:""",
        undecided=("PTX401",),
    ),
    Case(
        "a store to an unknown place of another variable without a fence",
        f"{_DATA} and.b32 %r11, %r10, 508; add.u32 %r11, %r8, %r11; {_STORE} bar.sync 0; {_COPY_OUT}",
    ),
    Case(
        "a store to an unknown place beyond the bytes of the async read",
        f"{_DATA} {_MASKED} st.shared.u32 [%r11+4096], %r10; bar.sync 0; {_COPY_OUT.replace('8192', '4096')}",
    ),
    Case(
        "a store that the fence precedes",
        f"{_DATA} {_FENCE} {_MASKED} {_STORE} bar.sync 0; {_COPY_OUT}",
        undecided=("PTX401",),
    ),
    Case(
        "an atomic at an unknown place without a fence",
        f"{_DATA} {_MASKED} red.shared.add.u32 [%r11], 1; bar.sync 0; {_COPY_OUT}",
        undecided=("PTX401",),
    ),
    Case(
        "a matrix store to unknown rows without a fence",
        f"""{_DATA} and.b32 %r11, %r10, 496; add.u32 %r11, %r2, %r11;
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11], {{%r10}}; bar.sync 0; {_COPY_OUT}""",
        undecided=("PTX401",),
    ),
    Case(
        "a store through a generic address that memory held",
        f"""{_DATA} {_MASKED} cvt.u64.u32 %rd13, %r11; cvta.shared.u64 %rd13, %rd13; mad.wide.u32 %rd15, %r1, 8, %rd2;
st.global.u64 [%rd15], %rd13; ld.global.u64 %rd14, [%rd15]; st.u32 [%rd14], %r10; bar.sync 0; {_COPY_OUT}""",
        undecided=("PTX401",),
    ),
    Case(
        "a store through a generic address where no address of shared memory becomes generic",
        f"{_DATA} ld.global.u64 %rd14, [%rd1]; st.u32 [%rd14], %r10; bar.sync 0; {_COPY_OUT}",
    ),
    Case(
        "a store through a generic address that is in shared or in global memory",
        f"""{_DATA} {_MASKED} cvt.u64.u32 %rd13, %r11; cvta.shared.u64 %rd13, %rd13; setp.eq.u32 %p3, %r10, 7;
cvta.global.u64 %rd14, %rd10; selp.b64 %rd14, %rd13, %rd14, %p3; st.u32 [%rd14], %r10; bar.sync 0; {_COPY_OUT}""",
        undecided=("PTX401",),
    ),
    Case(
        "a read of bytes that other threads copied, where each has waited only for its own copies",
        f"{_DATA} {_MASKED} {_COPY_IN} cp.async.wait_group 0; {_READ}",
        undecided=("PTX302", "PTX621"),
    ),
    Case(
        "a read of bytes that other threads copied, after the barrier",
        f"{_DATA} {_MASKED} {_COPY_IN} cp.async.wait_group 0; bar.sync 0; {_READ}",
    ),
    Case(
        "a store into the source of a copy that no thread has waited for",
        f"{_DATA} {_MASKED} {_SEND.format(wait='')} {_STORE} @%p1 cp.async.bulk.wait_group 0;",
        undecided=("PTX303", "PTX621"),
    ),
    Case(
        "a store into the source of a copy after the wait",
        f"{_DATA} {_MASKED} {_SEND.format(wait='cp.async.bulk.wait_group.read 0;')} {_STORE}",
    ),
    Case(
        "a store of the thread into the destination of its copy before the wait",
        f"{_DATA} and.b32 %r11, %r10, 12; add.u32 %r11, %r4, %r11; {_COPY_IN} {_STORE} cp.async.wait_group 0;",
        undecided=("PTX303",),
    ),
    Case(
        "a store into the destination of a copy that only its thread has waited for",
        f"{_DATA} and.b32 %r11, %r10, 12; add.u32 %r11, %r4, %r11; {_COPY_IN} cp.async.wait_group 0; {_STORE}",
        undecided=("PTX303",),
    ),
    Case(
        "two copies of a group, one of them to an unknown place",
        f"""{_DATA} and.b32 %r11, %r10, 16; add.u32 %r11, %r4, %r11;
cp.async.ca.shared.global [%r11], [%rd1], 16; {_COPY_IN} cp.async.wait_group 0;""",
        bounds=".reqntid 1, 1, 1",
        undecided=("PTX304",),
    ),
    Case(
        "two copies of two groups, one of them to an unknown place",
        f"""{_DATA} and.b32 %r11, %r10, 16; add.u32 %r11, %r4, %r11;
cp.async.ca.shared.global [%r11], [%rd1], 16; cp.async.commit_group; {_COPY_IN} cp.async.wait_group 0;""",
        bounds=".reqntid 1, 1, 1",
        undecided=("PTX304",),
    ),
    Case(
        "an async write to bytes of unknown reads without a fence",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; {_FENCE} bar.sync 0; {_DATA} {_MASKED} {_READ} bar.sync 0;
@!%p1 bra wait; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5], 0; @!%p4 bra wait;""",
        policy="strict",
        undecided=("PTX402",),
    ),
    Case(
        "an async write to bytes of unknown reads after a fence",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; {_FENCE} bar.sync 0; {_DATA} {_MASKED} {_READ} {_FENCE}
bar.sync 0;
@!%p1 bra wait; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5], 0; @!%p4 bra wait;""",
        policy="strict",
    ),
    Case(
        "a multiplication of matrices whose descriptors memory holds",
        f"""{_OWN_WORD} st.shared.u32 [%r13], %r1; bar.sync 0;
ld.global.u64 %rd13, [%rd1]; ld.global.u64 %rd14, [%rd1+8];
.reg .f32 %f<8>;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}}, %rd13, %rd14, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%rd2], %f0;""",
        undecided=("PTX205", "PTX401"),
    ),
)

CASES = (*CROSSINGS, *RACES, *OTHERS)
