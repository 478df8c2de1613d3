"""PTX403: tensor maps that the kernel changes itself; the halves of the fence, their map, and the order."""

from __future__ import annotations

from tests.rules.support import Case

REPLACE = "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;"
PUBLISH = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r8], 128;"
RELEASE = "fence.proxy.tensormap::generic.release.gpu;"
ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"
COPY = "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r6}], [%r2];"
WAIT = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"
ONE_WARP = ".reqntid 32, 1, 1"

CASES = (
    Case(
        "a map that a thread replaces needs both halves of the fence, even in that thread",
        f"@!%p1 bra end;\n{REPLACE} //= change\n{COPY} //! PTX403 change\n{WAIT}\nend:",
    ),
    Case(
        "a map that any one thread replaces and uses, without a branch",
        f"""setp.eq.u32 %p3, %r1, 70;
@%p3 {REPLACE} //= change
@%p3 {COPY} //! PTX403 change
@%p3 cp.async.bulk.commit_group; @%p3 cp.async.bulk.wait_group.read 0;""",
    ),
    Case(
        "a release without the acquire is no fence",
        f"@!%p1 bra end;\n{REPLACE} //= change\n{RELEASE}\n{COPY} //! PTX403 change\n{WAIT}\nend:",
    ),
    Case(
        "an acquire without the release is no fence",
        f"@!%p1 bra end;\n{REPLACE} //= change\n{ACQUIRE}\n{COPY} //! PTX403 change\n{WAIT}\nend:",
    ),
    Case(
        "an acquire before the release acquires nothing",
        f"@!%p1 bra end;\n{REPLACE} //= change\n{ACQUIRE} {RELEASE}\n{COPY} //! PTX403 change\n{WAIT}\nend:",
    ),
    Case(
        "a release and then an acquire are enough",
        f"@!%p1 bra end;\n{REPLACE}\n{RELEASE} {ACQUIRE}\n{COPY}\n{WAIT}\nend:",
    ),
    Case(
        "a fence for the async proxy does not cover tensor maps",
        f"@!%p1 bra end;\n{REPLACE} //= change\nfence.proxy.async;\n{COPY} //! PTX403 change\n{WAIT}\nend:",
    ),
    Case(
        "a warp-wide copy of a map releases it, and its use needs the acquire",
        f"{PUBLISH} //= change\n@!%p1 bra end;\n{COPY} //! PTX403 change\n{WAIT}\nend:",
        bounds=ONE_WARP,
    ),
    Case(
        "a warp-wide copy of a map releases it",
        f"{PUBLISH}\n{ACQUIRE}\n@!%p1 bra end;\n{COPY}\n{WAIT}\nend:",
        bounds=ONE_WARP,
    ),
    Case(
        "all lanes of a warp publish a map together",
        PUBLISH.replace("tensormap.cp", "@%p1 tensormap.cp") + " //! PTX603",
        bounds=ONE_WARP,
    ),
    Case(
        "the acquire of another map does not cover this one",
        f"""{PUBLISH} //= change
fence.proxy.tensormap::generic.acquire.gpu [%rd1+128], 128;
@!%p1 bra end;
{COPY} //! PTX403 change
{WAIT}\nend:""",
        bounds=ONE_WARP,
    ),
    Case(
        "the acquire of a map at an unknown address may cover this one",
        f"""{PUBLISH}
ld.global.u64 %rd10, [%rd2]; fence.proxy.tensormap::generic.acquire.gpu [%rd10], 128;
@!%p1 bra end;
{COPY}
{WAIT}\nend:""",
        bounds=ONE_WARP,
    ),
    Case(
        "a copy by the next map is not concerned",
        f"{PUBLISH}\nadd.u64 %rd10, %rd1, 128;\n@!%p1 bra end;\n{COPY.replace('[%rd1,', '[%rd10,')}\n{WAIT}\nend:",
        bounds=ONE_WARP,
    ),
    Case(
        "the thread that changes a map may acquire it for the one that it synchronizes with",
        f"@%p1 {REPLACE}\n@%p1 {RELEASE}\n@%p1 {ACQUIRE}\nbar.sync 0;\n@!%p2 bra end;\n{COPY}\n{WAIT}\nend:",
    ),
    Case(
        "the thread that copies may release and acquire a change that a barrier orders before",
        f"@%p1 {REPLACE}\nbar.sync 0;\n@!%p2 bra end;\n{RELEASE} {ACQUIRE}\n{COPY}\n{WAIT}\nend:",
    ),
    Case(
        "a third thread may acquire a map for the block",
        f"""setp.eq.u32 %p3, %r1, 77;
@%p1 {REPLACE}\n@%p1 {RELEASE}\nbar.sync 0;
@%p3 {ACQUIRE}\nbar.sync 0;
@!%p2 bra end;\n{COPY}\n{WAIT}\nend:""",
    ),
    Case(
        "a third thread that acquires before the change acquires nothing of it",
        f"""setp.eq.u32 %p3, %r1, 77;
@%p3 {ACQUIRE}\nbar.sync 0;
@%p1 {REPLACE} //= change
@%p1 {RELEASE}\nbar.sync 0;
@!%p2 bra end;\n{COPY} //! PTX403 change
{WAIT}\nend:""",
    ),
    Case(
        "a change and a copy by another warp need a barrier",
        f"""@!%p1 bra second;
{REPLACE} //= change
{RELEASE}
bra end;
second: @!%p2 bra end;
{ACQUIRE}\n{COPY} //! PTX403 change
{WAIT}\nend:""",
    ),
    Case(
        "words that lanes store are a map where they are released and acquired as one",
        f"""shl.b32 %r10, %r1, 2; cvt.u64.u32 %rd10, %r10; add.u64 %rd11, %rd1, %rd10;
@%p1 st.global.u32 [%rd1+12], %r6; //= change
@!%p1 bra end;
{ACQUIRE}
{COPY} //! PTX403 change
{WAIT}\nend:""",
        bounds=ONE_WARP,
    ),
    Case(
        "words without release and acquire may be data",
        f"@!%p1 bra end; {RELEASE}\nst.global.u32 [%rd1+12], %r6;\n{COPY}\n{WAIT}\nend:",
        bounds=ONE_WARP,
    ),
    Case(
        "a map is not changed while a copy may read it",
        f"@!%p1 bra end;\n{COPY} //= copy\n{REPLACE} //! PTX403 copy\n{WAIT}\nend:",
    ),
    Case(
        "a wait for the copies' reads is enough for a change of the map",
        f"@!%p1 bra end;\n{COPY}\n{WAIT}\n{REPLACE}\nend:",
    ),
    Case(
        "a wait for older copies does not cover this one",
        f"""@!%p1 bra end;
{COPY} //= copy
cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1;
{REPLACE} //! PTX403 copy
cp.async.bulk.wait_group.read 0;\nend:""",
    ),
    Case(
        "a map at a pointer is acquired somewhere, according to the policy strict",
        f"@!%p1 bra end;\n{COPY} //? PTX403\n{WAIT}\nend:",
        policy="strict",
    ),
    Case(
        "a map that came by a pointer and is acquired is right under the policy strict",
        f"@!%p1 bra end;\n{ACQUIRE}\n{COPY}\n{WAIT}\nend:",
        policy="strict",
    ),
    Case(
        "a map at a pointer is correct under the policy isa, which trusts the host",
        f"@!%p1 bra end;\n{COPY}\n{WAIT}\nend:",
    ),
)
