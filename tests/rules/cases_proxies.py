"""PTX401: generic writes read through the async proxy; the fence is missing, misplaced or of another space."""

from __future__ import annotations

from tests.rules.support import Case

COPY = "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048;"
AFTER = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\nend:"
RELEASE = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"
ACQUIRE = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"


def _copy_by_a_third_thread(name: str, to: str, mark: str, undecided: tuple[str, ...] = ()) -> Case:
    """Thread 64 copies after thread 0 has stored, and thread 32 waits for the copy, and then for thread 0."""
    return Case(
        name,
        f"""setp.eq.u32 %p3, %r1, 64;
@%p1 st.shared.u32 [%r2], %r6; //= write
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1; bar.sync 0;
@!%p3 bra over; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [%rd1], 2048, [%r5];
over: @%p1 mbarrier.arrive.shared::cta.b64 _, [%r5+8];
full: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5], 0; @!%p4 bra full;
free: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5+8], 0; //= sync
@!%p4 bra free;
@!%p2 bra end;
{COPY} {mark}
{AFTER}""",
        undecided=undecided,
    )


CASES = (
    _copy_by_a_third_thread("a copy of a third thread replaces the bytes before they are read", "%r2", "", ("PTX401",)),
    _copy_by_a_third_thread("a copy of a third thread is to other bytes", "%r8", "//! PTX401 write sync"),
    Case(
        "lanes of one warp need a barrier as other threads do",
        f"""st.shared.u32 [%r4], %r1; //= write
fence.proxy.async.shared::cta; //= fence
@!%p1 bra end;
{COPY} //! PTX401 write fence
{AFTER}""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "lanes of one warp need no more than the barrier of their warp",
        f"""st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.warp.sync -1;
@!%p1 bra end;
{COPY}
{AFTER}""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a fence that data may skip leaves the read undecided",
        f"""@!%p1 bra end; ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0;
st.shared.u32 [%r2], %r1; @%p3 fence.proxy.async.shared::cta;
{COPY}
{AFTER}""",
        undecided=("PTX401",),
    ),
    Case(
        "a fence that one lane votes for is executed by the whole warp",
        f"""setp.eq.u32 %p3, %r1, 5; vote.sync.any.pred %p4, %p3, -1; st.shared.u32 [%r2], %r1;
@%p4 fence.proxy.async.shared::cta; bar.warp.sync -1;
@!%p1 bra end;
{COPY}
{AFTER}""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a vote that only this thread decides is known",
        f"""setp.lt.u32 %p3, %r1, 5; vote.sync.any.pred %p4, %p3, -1; st.shared.u32 [%r2], %r1;
@%p4 fence.proxy.async.shared::cta;
bar.sync 0; @!%p1 bra end;
{COPY}
{AFTER}""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a fence that a known vote skips is missed",
        f"""setp.ge.u32 %p3, %r1, 5; vote.sync.all.pred %p4, %p3, -1;
st.shared.u32 [%r2], %r1; //= write
@%p4 fence.proxy.async.shared::cta;
@!%p1 bra end;
{COPY} //! PTX401 write
{AFTER}""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a store by the issuing thread itself needs the fence too",
        f"""@!%p1 bra end;
st.shared.u32 [%r2], %r1; //= write
{COPY} //! PTX401 write
{AFTER}""",
    ),
    Case(
        "a fence between the store and the copy of one thread is enough",
        f"@!%p1 bra end; st.shared.u32 [%r2], %r1; fence.proxy.async.shared::cta;\n{COPY}\n{AFTER}",
    ),
    Case(
        "a fence after the copy is too late",
        f"""@!%p1 bra end;
st.shared.u32 [%r2], %r1; //= write
{COPY} //! PTX401 write
fence.proxy.async.shared::cta;
{AFTER}""",
    ),
    Case(
        "a fence of generic accesses orders no proxies",
        f"""@!%p1 bra end;
st.shared.u32 [%r2], %r1; //= write
fence.acq_rel.gpu; membar.cta;
{COPY} //! PTX401 write
{AFTER}""",
    ),
    Case(
        "a fence for tensor maps does not cover the async proxy",
        f"""@!%p1 bra end;
st.shared.u32 [%r2], %r1; //= write
fence.proxy.tensormap::generic.release.gpu;
{COPY} //! PTX401 write
{AFTER}""",
    ),
    Case(
        "a fence for global memory does not cover shared memory",
        f"""@!%p1 bra end;
st.shared.u32 [%r2], %r1; //= write
fence.proxy.async.global;
{COPY} //! PTX401 write
{AFTER}""",
    ),
    Case(
        "an atomic is a generic write like another",
        f"""@!%p1 bra end;
atom.shared.add.u32 %r10, [%r2], 1; //= write
{COPY} //! PTX401 write
{AFTER}""",
    ),
    Case(
        "a write by a vector into the last bytes of the source counts",
        f"""@!%p1 bra end;
st.shared.v4.u32 [%r2+2032], {{%r1, %r1, %r1, %r1}}; //= write
{COPY} //! PTX401 write
{AFTER}""",
    ),
    Case(
        "a write directly after the source does not count",
        f"@!%p1 bra end; st.shared.v4.u32 [%r2+2048], {{%r1, %r1, %r1, %r1}};\n{COPY}\n{AFTER}",
    ),
    Case(
        "a read of the tile before the copy needs no fence",
        f"@!%p1 bra end; ld.shared.u32 %r10, [%r2];\n{COPY}\n{AFTER}",
    ),
    Case(
        "a store through a generic address is a generic write all the same",
        f"""@!%p1 bra end; mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5;
st.u32 [%rd6+16], %r1; //= write
{COPY} //! PTX401 write
{AFTER}""",
    ),
    Case(
        "a barrier between two threads leaves the proxies apart",
        f"""st.shared.u32 [%r4], %r1; //= write
bar.sync 0; //= sync
@!%p1 bra end;
{COPY} //! PTX401 write sync
{AFTER}""",
    ),
    Case(
        "the writers' fence before the barrier orders the proxies",
        f"st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra end;\n{COPY}\n{AFTER}",
    ),
    Case(
        "a fence in one warp of the writers does not cover the others",
        f"""st.shared.u32 [%r4], %r1; //= write
setp.lt.u32 %p3, %r1, 64; @%p3 fence.proxy.async.shared::cta;
bar.sync 0; //= sync
@!%p1 bra end;
{COPY} //! PTX401 write sync
{AFTER}""",
    ),
    Case(
        "a fence in a thread that neither wrote all of it nor issues the copy is in the wrong place",
        f"""st.shared.u32 [%r4], %r1; //= write
@%p1 fence.proxy.async.shared::cta;
bar.sync 0; //= sync
@!%p2 bra end;
{COPY} //! PTX401 write sync
{AFTER}""",
    ),
    Case(
        "the issuer's fence after the barrier is accepted",
        f"st.shared.u32 [%r4], %r1; bar.sync 0; @!%p1 bra end; fence.proxy.async.shared::cta;\n{COPY}\n{AFTER}",
    ),
    Case(
        "the issuer's fence after the barrier satisfies the strict policy, which follows the mixed-proxy model",
        f"st.shared.u32 [%r4], %r1; bar.sync 0; @!%p1 bra end; fence.proxy.async.shared::cta;\n{COPY}\n{AFTER}",
        policy="strict",
    ),
    Case(
        "the writers' fence satisfies the strict policy",
        f"st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra end;\n{COPY}\n{AFTER}",
        policy="strict",
    ),
    Case(
        "a named barrier synchronizes the tile in the same way as barrier 0",
        f"""st.shared.u32 [%r4], %r1; //= write
barrier.sync 3; //= sync
@!%p1 bra end;
{COPY} //! PTX401 write sync
{AFTER}""",
    ),
    Case(
        "a fence before the named barrier fixes it",
        f"st.shared.u32 [%r4], %r1; fence.proxy.async; barrier.sync 3; @!%p1 bra end;\n{COPY}\n{AFTER}",
    ),
    Case(
        "a cluster barrier synchronizes the tile and not the proxies",
        f"""st.shared.u32 [%r4], %r1; //= write
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned; //= sync
@!%p1 bra end;
{COPY} //! PTX401 write sync
{AFTER}""",
        bounds=".reqntid 128, 1, 1 .explicitcluster .reqnctapercluster 2, 1, 1",
    ),
    Case(
        "a fence before the cluster barrier fixes it",
        f"""st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @!%p1 bra end;
{COPY}
{AFTER}""",
        bounds=".reqntid 128, 1, 1 .explicitcluster .reqnctapercluster 2, 1, 1",
    ),
    Case(
        "a fence in external code may be between",
        f"st.shared.u32 [%r4], %r1; call.uni elsewhere; bar.sync 0; @!%p1 bra end;\n{COPY}\n{AFTER}",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX301", "PTX303", "PTX603"),
    ),
    Case(
        "a fence in a function of this module is between",
        f"st.shared.u32 [%r4], %r1; call.uni close; bar.sync 0; @!%p1 bra end;\n{COPY}\n{AFTER}",
        before=".func close { fence.proxy.async.shared::cta; ret; }",
        undecided=("PTX621",),
    ),
    Case(
        "a function of this module without a fence puts none between",
        f"""st.shared.u32 [%r4], %r1; //= write
call.uni close;
bar.sync 0; //= sync
@!%p1 bra end;
{COPY} //! PTX401 write sync
{AFTER}""",
        before=".func close { ret; }",
    ),
    Case(
        "a fence that hangs on an integer parameter is missing for some of its values",
        f"""setp.gt.u32 %p3, %r6, 100;
st.shared.u32 [%r4], %r1; //= write
@%p3 fence.proxy.async.shared::cta;
bar.sync 0; //= sync
@!%p1 bra end;
{COPY} //! PTX401 write sync
{AFTER}""",
    ),
    Case(
        "two copies that one fence would fix are one report",
        f"""@!%p1 bra end;
st.shared.u32 [%r2], %r1; //= write
{COPY} //! PTX401 write
{COPY}
{AFTER}""",
    ),
    Case(
        "two copies that need a fence each are two reports",
        f"""st.shared.u32 [%r4], %r1; //= first
bar.sync 0; //= one
@!%p1 bra next;
{COPY} //! PTX401 first one
cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
next: bar.sync 0;
st.shared.u32 [%r9], %r3; //= second
bar.sync 0; //= two
@!%p1 bra end;
{COPY.replace("%r2]", "%r8]")} //! PTX401 second two
{AFTER}""",
    ),
    Case(
        "a tile rewritten by a bulk copy that was waited for is no longer the generic write's",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0; @!%p1 bra end;
st.shared.u32 [%r2], %r1; fence.proxy.async.shared::cta;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;
{COPY}
{AFTER}""",
    ),
    Case(
        "a one-way fence that releases is half of the required pair",
        f"""st.shared.u32 [%r4], %r1; //= write
{RELEASE} //= half
bar.sync 0; @!%p1 bra end;
{COPY} //! PTX401 write half
{AFTER}""",
    ),
    Case(
        "an acquiring fence before the barrier is no counterpart of a release",
        f"""st.shared.u32 [%r4], %r1; //= write
{RELEASE} //= half
{ACQUIRE} bar.sync 0; @!%p1 bra end;
{COPY} //! PTX401 write half
{AFTER}""",
    ),
    Case(
        "one-way fences on both sides of the barrier are a fence",
        f"""st.shared.u32 [%r4], %r1; {RELEASE} bar.sync 0; {ACQUIRE} @!%p1 bra end;
{COPY}
{AFTER}""",
    ),
    Case(
        "a whole fence needs no other half",
        f"""st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; {RELEASE} bar.sync 0; @!%p1 bra end;
{COPY}
{AFTER}""",
    ),
)
