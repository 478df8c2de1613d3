"""Families of litmus tests of asynchronous instructions, which vary one thing at a time: the fence, the wait, the
barrier, the side on which they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from litmus_lib.async_words import SuiteTest

ASYNC_PROXY = "Async Proxy; membar, fence"
BULK = "cp.async.bulk; Async Proxy"
GROUPS = "cp.async.bulk.wait_group; Async-group mechanism"
COPY = "cp.async; cp.async.wait_group, cp.async.wait_all"
MBARRIER = "mbarrier.arrive; mbarrier.test_wait, mbarrier.try_wait"
ASYNC_ORDER = "Asynchronous Operations"
CLUSTER = "barrier.cluster; Release and Acquire Patterns"
WGMMA = "wgmma.mma_async; wgmma.wait_group; Async Proxy"


def generic_to_async() -> Iterator[SuiteTest]:
    """A store by the generic proxy, and a bulk copy that reads it."""
    sides: dict[str, tuple[Sequence[str], Sequence[str]]] = {
        "no_fence": ((), ()),
        "fence_of_writer": (("fence",), ()),
        "fence_of_issuer": ((), ("fence",)),
        "shared_fence_of_writer": (("fence shared",), ()),
        "shared_fence_of_issuer": ((), ("fence shared",)),
        "global_fence_of_writer": (("fence global",), ()),
        "global_fence_of_issuer": ((), ("fence global",)),
        "memory_fence": (("fence memory",), ("fence memory",)),
    }
    for name, (writer, issuer) in sides.items():
        verdict = "ok" if name.startswith(("fence", "shared")) else "bad"
        title = f"A bulk copy reads what another thread stored: {name}."
        threads = (("put", *writer, "bar"), ("bar", *issuer, "store", "commit", "done 0"))
        yield SuiteTest(f"store_then_bulk_store_{name}", title, verdict, threads, ASYNC_PROXY)
    for name, fence, verdict in (
        ("no_fence", (), "bad"),
        ("fence", ("fence",), "ok"),
        ("wrong_fence", ("fence global",), "bad"),
    ):
        title = f"A bulk copy reads what its own thread stored: {name}."
        yield SuiteTest(
            f"own_store_then_bulk_store_{name}",
            title,
            verdict,
            (("put", *fence, "store", "commit", "done 0"),),
            ASYNC_PROXY,
        )
    early = (("fence", "put", "bar"), ("bar", "store", "commit", "done 0"))
    yield SuiteTest("fence_before_the_store", "A fence before the store does not cover it.", "bad", early, ASYNC_PROXY)
    alone = (("put", "fence"), ("store", "commit", "done 0"))
    yield SuiteTest(
        "fence_without_barrier",
        "A proxy fence synchronizes no threads.",
        "bad",
        alone,
        "membar, fence; Causality Order",
    )
    third = (("put", "bar"), ("bar", "store", "commit", "done 0"), ("fence", "bar"))
    yield SuiteTest(
        "fence_of_a_third_thread", "A fence that is not on the path does not count.", "bad", third, ASYNC_PROXY
    )
    joined = (("put", "bar", "bar"), ("bar", "bar", "store", "commit", "done 0"), ("bar", "fence", "bar"))
    yield SuiteTest(
        "fence_of_a_third_thread_on_the_path", "A fence of any thread on the path counts.", "ok", joined, ASYNC_PROXY
    )
    for name, writer, issuer, verdict in (
        ("no_fence", (), (), "bad"),
        ("fence_of_reader", (), ("fence",), "ok"),
        ("fence_of_writer", ("fence",), (), "silent"),
        ("global_fence_of_reader", (), ("fence global",), "ok"),
        ("shared_fence_of_reader", (), ("fence shared",), "bad"),
    ):
        title = f"A bulk copy reads what another CTA stored in global memory: {name}."
        threads = (("put g", *writer, "signal"), ("init", "expect", "await", *issuer, "load", "wait"))
        yield SuiteTest(f"message_to_bulk_load_{name}", title, verdict, threads, ASYNC_PROXY, (0, 1))


def async_to_generic() -> Iterator[SuiteTest]:
    """A bulk copy that writes shared memory, and loads of it."""
    start = ("init", "expect", "load")
    for name, waits, verdict in (
        ("no_wait", (), "bad"),
        ("wait", ("wait",), "ok"),
        ("wait_of_other_parity", ("wait 1",), "bad"),
        ("relaxed_wait", ("wait relaxed",), "bad"),
        ("relaxed_wait_and_fence", ("wait relaxed", "fence memory"), "ok"),
        ("test_once", ("test once",), "bad"),
        ("try_once", ("try once",), "bad"),
        ("barrier", ("bar",), "bad"),
        ("group_wait", ("commit", "done 0"), "bad"),
        ("proxy_fence", ("fence",), "bad"),
        ("wait_and_fence", ("wait", "fence"), "ok"),
    ):
        title = f"A load of the destination of a bulk copy: {name}."
        yield SuiteTest(f"bulk_load_then_load_{name}", title, verdict, ((*start, *waits, "get"),), BULK)
    for name, first, second, verdict in (
        ("own_wait", (), ("wait",), "ok"),
        ("wait_then_barrier", ("wait", "bar"), ("bar",), "ok"),
        ("barrier_only", ("bar",), ("bar",), "bad"),
        ("wait_after_barrier", ("bar", "wait"), ("bar",), "bad"),
        ("nothing", (), (), "bad"),
    ):
        title = f"Another thread loads the destination of a bulk copy: {name}."
        threads = (("init", "bar", "expect", "load", *first), ("bar", *second, "get"))
        yield SuiteTest(f"bulk_load_of_other_thread_{name}", title, verdict, threads, BULK)
    before = ((*start, "put", "wait"),)
    yield SuiteTest(
        "store_to_the_destination_in_flight", "A store to the destination before the wait.", "bad", before, BULK
    )
    after = ((*start, "wait", "put"),)
    yield SuiteTest(
        "store_to_the_destination_after_the_wait", "A store to the destination after the wait.", "ok", after, BULK
    )
    zeros = (("put", *start, "wait", "get"),)
    yield SuiteTest(
        "zeros_then_bulk_load", "A store, then a bulk copy over it, without a fence.", "silent", zeros, ASYNC_PROXY
    )
    fenced = (("put", "fence", *start, "wait", "get"),)
    yield SuiteTest(
        "zeros_fence_then_bulk_load", "A store, a fence, then a bulk copy over it.", "ok", fenced, ASYNC_PROXY
    )
    value = SuiteTest(
        "value_of_a_bulk_load",
        "A load after the wait returns what the copy wrote.",
        "ok",
        ((*start, "wait", "get"),),
        BULK,
        query="initial: src = 7\n// ~exists: P0:%r1 != 7",
    )
    yield value


def bulk_groups() -> Iterator[SuiteTest]:
    """Bulk copies to global memory, and what may follow a wait for their group."""
    start = ("put", "fence", "store")
    for name, waits, verdict in (
        ("no_wait", ("commit",), "bad"),
        ("wait", ("commit", "done 0"), "ok"),
        ("read_wait", ("commit", "read 0"), "bad"),
        ("no_commit", ("done 0",), "bad"),
        ("one_pending", ("commit", "done 1"), "bad"),
        ("empty_group_after", ("commit", "commit", "done 1"), "ok"),
        ("copy_wait", ("commit", "copy commit", "copy wait 0"), "bad"),
        ("barrier", ("commit", "bar"), "bad"),
        ("fence", ("commit", "fence"), "bad"),
    ):
        title = f"A load of the destination of a bulk copy to global memory: {name}."
        yield SuiteTest(f"bulk_store_then_load_{name}", title, verdict, ((*start, *waits, "get g"),), GROUPS)
        source = "ok" if verdict == "ok" or name == "read_wait" else "bad"
        title = f"A store to the source of a bulk copy to global memory: {name}."
        yield SuiteTest(f"bulk_store_then_store_{name}", title, source, ((*start, *waits, "put"),), GROUPS)
    other = (("put", "fence", "store", "commit", "bar"), ("bar", "done 0", "get g"))
    yield SuiteTest(
        "group_wait_of_other_thread", "A wait for groups concerns those of its own thread.", "bad", other, GROUPS
    )
    for name, wait, verdict in (("wait", "done 0", "ok"), ("read_wait", "read 0", "bad")):
        passed = (("put", "fence", "store", "commit", wait, "bar"), ("bar", "get g"))
        yield SuiteTest(
            f"bulk_store_passed_on_{name}",
            f"Another thread loads after a barrier: {name}.",
            verdict,
            passed,
            GROUPS,
        )
        sent = (("put", "fence", "store", "commit", wait, "signal"), ("await", "get g"))
        yield SuiteTest(
            f"bulk_store_signaled_{name}",
            f"Another CTA loads after a release: {name}.",
            verdict,
            sent,
            GROUPS,
            (0, 1),
        )
    two = ("put", "fence", "store", "commit", "store", "commit", "done 0")
    yield SuiteTest("two_bulk_stores_race", "Two copies to one destination are not ordered.", "bad", (two,), BULK)
    apart = ("put", "fence", "store", "commit", "done 0", "store", "commit", "done 0")
    yield SuiteTest(
        "two_bulk_stores_in_turn", "The first copy is complete when the second begins.", "ok", (apart,), BULK
    )
    summed = ("put", "fence", "reduce", "commit", "reduce", "commit", "done 0", "get g")
    yield SuiteTest(
        "two_reductions", "Two reductions to one destination are atomic.", "ok", (summed,), "cp.reduce.async.bulk"
    )
    mixed = ("put", "fence", "store", "commit", "reduce", "commit", "done 0")
    yield SuiteTest(
        "reduction_and_copy_race", "A reduction and a copy to one destination.", "bad", (mixed,), "cp.reduce.async.bulk"
    )


def reuse() -> Iterator[SuiteTest]:
    """A buffer that is filled and read in turns."""
    handed = {"no_barrier": ((), ()), "barrier": (("bar",), ("bar",))}
    for name, (reader, issuer) in handed.items():
        for fence, words in (("no_fence", ()), ("fence", ("fence",))):
            verdict = "bad" if name == "no_barrier" else "silent" if fence == "no_fence" else "ok"
            title = f"A bulk copy overwrites what another thread has loaded: {name}, {fence}.".replace("_", " ")
            threads = (("get", *words, *reader), ("init", *issuer, "expect", "load", "wait"))
            sections = "Async Proxy; Completion Mechanisms for Asynchronous Copy Operations"
            yield SuiteTest(f"load_then_bulk_load_{name}_{fence}", title, verdict, threads, sections)
    start = ("init", "expect", "load", "wait")
    for name, waits, verdict in (
        ("no_wait", ("commit",), "bad"),
        ("read_wait", ("commit", "read 0"), "ok"),
        ("wait", ("commit", "done 0"), "ok"),
    ):
        again = (*start, "store", *waits, "expect", "load", "wait 1")
        yield SuiteTest(
            f"load_store_load_{name}",
            f"A buffer is loaded, stored and loaded again: {name}.",
            verdict,
            (again,),
            GROUPS,
        )
    yield SuiteTest(
        "load_then_bulk_store",
        "A bulk copy reads what another has written, after its wait.",
        "ok",
        ((*start, "store", "commit", "done 0"),),
        BULK,
    )
    early = ("init", "expect", "load", "store", "commit", "done 0", "wait")
    yield SuiteTest("bulk_store_before_the_wait", "A bulk copy reads what another is writing.", "bad", (early,), BULK)


def copies() -> Iterator[SuiteTest]:
    """cp.async, which is by the generic proxy."""
    for name, waits, verdict in (
        ("no_wait", ("copy commit",), "bad"),
        ("wait", ("copy commit", "copy wait 0"), "ok"),
        ("wait_all", ("copy wait all",), "ok"),
        ("no_commit", ("copy wait 0",), "bad"),
        ("one_pending", ("copy commit", "copy wait 1"), "bad"),
        ("empty_group_after", ("copy commit", "copy commit", "copy wait 1"), "ok"),
        ("barrier", ("copy commit", "bar"), "bad"),
        ("bulk_wait", ("copy commit", "commit", "done 0"), "bad"),
        ("fence", ("copy commit", "fence memory"), "bad"),
    ):
        title = f"A load of the destination of cp.async: {name}."
        yield SuiteTest(f"copy_then_load_{name}", title, verdict, (("copy", *waits, "get"),), COPY)
    for name, first, second, verdict in (
        ("wait_then_barrier", ("copy wait 0", "bar"), ("bar",), "ok"),
        ("barrier_then_wait", ("bar", "copy wait 0"), ("bar",), "bad"),
        ("wait_only", ("copy wait 0",), (), "bad"),
        ("wait_of_reader", ("bar",), ("bar", "copy wait 0"), "bad"),
        ("wait_and_signal", ("copy wait 0", "signal"), ("await",), "ok"),
    ):
        title = f"Another thread loads the destination of cp.async: {name}."
        yield SuiteTest(
            f"copy_of_other_thread_{name}", title, verdict, (("copy", "copy commit", *first), (*second, "get")), COPY
        )
    for name, words, verdict in (
        ("arrival", ("copy", "copy arrive"), "ok"),
        ("arrival_before_the_copy", ("copy arrive", "copy"), "bad"),
        ("plain_arrival", ("copy", "arrive"), "bad"),
        ("counted_arrival", ("copy", "copy arrive inc", "arrive"), "ok"),
    ):
        title = f"An mbarrier tracks cp.async: {name}."
        threads = (("init", "bar", *words), ("bar", "wait", "get"))
        yield SuiteTest(
            f"copy_tracked_{name}", title, verdict, threads, "cp.async.mbarrier.arrive; Asynchronous Operations"
        )
    for name, fence, verdict in (("no_fence", (), "bad"), ("fence", ("fence",), "ok")):
        words = ("copy", "copy commit", "copy wait 0", *fence, "store", "commit", "done 0")
        yield SuiteTest(
            f"copy_then_bulk_store_{name}",
            f"A bulk copy reads what cp.async wrote: {name}.",
            verdict,
            (words,),
            ASYNC_PROXY,
        )
    for name, barrier, verdict in (("no_barrier", (), "bad"), ("barrier", ("bar",), "ok")):
        threads = (("get", *barrier), (*barrier, "copy", "copy wait all"))
        yield SuiteTest(
            f"load_then_copy_{name}",
            f"cp.async overwrites what another thread has loaded: {name}.",
            verdict,
            threads,
            COPY,
        )
    own = ("get", "copy", "copy wait all")
    yield SuiteTest("own_load_then_copy", "cp.async overwrites what its thread has loaded.", "ok", (own,), ASYNC_ORDER)
    twice = ("copy", "copy", "copy wait all")
    yield SuiteTest("two_copies_race", "Two cp.async to one destination are not ordered.", "bad", (twice,), ASYNC_ORDER)


def mbarriers() -> Iterator[SuiteTest]:
    """Arrivals that release, waits that acquire, and the life of the object."""
    for name, arrival, waits, verdict in (
        ("release_acquire", ("arrive",), ("wait",), "ok"),
        ("relaxed_arrival", ("arrive relaxed",), ("wait",), "bad"),
        ("fenced_relaxed_arrival", ("fence memory", "arrive relaxed"), ("wait",), "ok"),
        ("relaxed_wait", ("arrive",), ("wait relaxed",), "bad"),
        ("fenced_relaxed_wait", ("arrive",), ("wait relaxed", "fence memory"), "ok"),
        ("other_parity", ("arrive",), ("wait 1",), "bad"),
        ("test_once", ("arrive",), ("test once",), "bad"),
        ("no_wait", ("arrive",), (), "bad"),
    ):
        title = f"An mbarrier passes a store to another thread: {name}."
        threads = (("init", "bar", "put", *arrival), ("bar", *waits, "get"))
        yield SuiteTest(f"handover_{name}", title, verdict, threads, MBARRIER)
    late = (("init", "bar", "arrive", "put"), ("bar", "wait", "get"))
    yield SuiteTest("store_after_the_arrival", "An arrival releases only what precedes it.", "bad", late, MBARRIER)
    both = (("init 2", "bar", "put", "arrive"), ("bar", "arrive", "wait", "get"))
    yield SuiteTest("both_threads_arrive", "A phase of two arrivals has what both released.", "ok", both, MBARRIER)
    excess = (("init", "bar", "put", "arrive"), ("bar", "arrive", "wait", "get"))
    yield SuiteTest(
        "too_many_arrivals",
        "One arrival more than the phase expects.",
        "bad",
        excess,
        "mbarrier.init; Phase of the mbarrier object",
    )
    raw = (("init", "put", "arrive"), ("wait", "get"))
    yield SuiteTest(
        "init_not_published", "A wait that nothing orders after mbarrier.init.", "bad", raw, "mbarrier.init"
    )
    for name, words, verdict in (
        ("before_the_arrival", ("mark", "expect", "load"), "ok"),
        ("after_the_arrival", ("expect", "mark", "load"), "bad"),
    ):
        title = f"A wait for a copy, and what the issuer stored {name}."
        yield SuiteTest(
            f"issuers_store_{name}", title, verdict, (("init", "bar", *words), ("bar", "wait", "look")), ASYNC_ORDER
        )


def clusters() -> Iterator[SuiteTest]:
    """The shared memory of other CTAs of a cluster."""
    join = ("cluster arrive", "cluster wait")
    for name, arrive, verdict in (
        ("release", ("cluster arrive",), "ok"),
        ("relaxed", ("cluster relaxed",), "bad"),
        ("fenced_relaxed", ("cluster fence", "cluster relaxed"), "ok"),
    ):
        title = f"A store to the shared memory of another CTA, and a cluster barrier: {name}."
        threads = (
            (*join, "map 1", "put far", *arrive, "cluster wait"),
            (*join, "cluster arrive", "cluster wait", "get"),
        )
        yield SuiteTest(f"distributed_store_{name}", title, verdict, threads, CLUSTER, (0, 1))
    unjoined = ((*join, "map 1", "put far"), (*join, "get"))
    yield SuiteTest(
        "distributed_store_no_barrier",
        "A store to the shared memory of another CTA, and nothing.",
        "bad",
        unjoined,
        CLUSTER,
        (0, 1),
    )
    for name, words, verdict in (
        ("cluster", "arrive far", "ok"),
        ("cta", "arrive far cta", "bad"),
        ("relaxed", "arrive far relaxed", "bad"),
    ):
        title = f"A store to another CTA, with an arrival at its mbarrier, of scope {name}."
        threads = ((*join, "map 1", "map bar 1", "put far", words), ("init", *join, "wait cluster", "get"))
        yield SuiteTest(f"far_arrival_{name}", title, verdict, threads, MBARRIER, (0, 1))
    narrow = ((*join, "map 1", "map bar 1", "put far", "arrive far"), ("init", *join, "wait", "get"))
    yield SuiteTest(
        "far_arrival_narrow_wait", "The wait has the scope of its CTA only.", "bad", narrow, MBARRIER, (0, 1)
    )
    for name, publish, verdict in (
        ("release", ("cluster arrive",), "ok"),
        ("relaxed", ("cluster relaxed",), "bad"),
        ("init_fence", ("publish init", "cluster relaxed"), "ok"),
    ):
        title = f"mbarrier.init is published to another CTA: {name}."
        threads = ((*join, "map bar 1", "arrive far", *join), ("init", *publish, "cluster wait", *join))
        yield SuiteTest(f"far_init_{name}", title, verdict, threads, "membar, fence; mbarrier.init", (0, 1))
    data = (
        ("put", "publish init", "cluster relaxed", "cluster wait"),
        ("cluster arrive", "cluster wait", "map 0", "get far"),
    )
    yield SuiteTest(
        "init_fence_publishes_no_data",
        "fence.mbarrier_init publishes only mbarrier.init.",
        "bad",
        data,
        "membar, fence",
        (0, 1),
    )
    for name, waits, verdict in (("wait", ("wait",), "ok"), ("no_wait", (), "bad")):
        threads = ((*join, "map 1", "map bar 1", "async put"), ("init", "expect 4", *join, *waits, "get"))
        yield SuiteTest(
            f"async_store_{name}",
            f"st.async to another CTA: {name}.",
            verdict,
            threads,
            "st.async",
            (0, 1),
        )
    for name, waits, verdict in (("both_wait", ("wait",), "ok"), ("one_waits", (), "bad")):
        threads = (("init", "expect", *join, "multicast", "wait", "get"), ("init", "expect", *join, *waits, "get"))
        yield SuiteTest(f"multicast_{name}", f"A copy to both CTAs: {name}.", verdict, threads, BULK, (0, 1))
    for name, before, arrive, after, verdict in (
        ("both", ("release",), "cluster relaxed", ("acquire",), "ok"),
        ("release_only", ("release",), "cluster relaxed", (), "silent"),
        ("acquire_only", (), "cluster relaxed", ("acquire",), "bad"),
        ("full_fence_after_relaxed", (), "cluster relaxed", ("fence",), "bad"),
        ("full_fence_after_release", (), "cluster arrive", ("fence",), "ok"),
        ("full_fence_before_release", ("fence",), "cluster arrive", (), "silent"),
    ):
        title = f"A copy to another CTA overwrites what that has stored: {name}."
        threads = (
            (*join, *after, "map 1", "map bar 1", "send", *join),
            ("init", "expect", "publish init", "put", *before, arrive, "cluster wait", "wait", "get", *join),
        )
        yield SuiteTest(f"one_way_fences_{name}", title, verdict, threads, "membar, fence; Async Proxy", (0, 1))


def tensor_cores() -> Iterator[SuiteTest]:
    """The operands of wgmma.mma_async in shared memory."""
    issue = ("mma fence", "mma", "mma commit")
    for name, words, verdict in (
        ("store_fence", ("put", "fence"), "ok"),
        ("store_no_fence", ("put",), "bad"),
        ("store_register_fence_only", ("put", "mma fence"), "bad"),
        ("bulk_load", ("init", "expect", "load", "wait"), "ok"),
        ("bulk_load_no_wait", ("init", "expect", "load"), "bad"),
        ("copy_fence", ("copy", "copy wait all", "fence"), "ok"),
        ("copy_no_fence", ("copy", "copy wait all"), "bad"),
    ):
        title = f"Operands of wgmma.mma_async: {name}."
        yield SuiteTest(
            f"mma_operand_{name}", title, verdict, (("descriptor", *words, "bar", *issue, "mma wait 0"),), WGMMA
        )
    for name, waits, verdict in (
        ("no_wait", (), "bad"),
        ("wait", ("mma wait 0",), "ok"),
        ("one_pending", ("mma wait 1",), "bad"),
        ("older_group", (*issue, "mma wait 1"), "bad"),
    ):
        title = f"A store over the operands of wgmma.mma_async: {name}."
        yield SuiteTest(
            f"mma_then_store_{name}", title, verdict, (("descriptor", *issue, *waits, "bar", "put"),), WGMMA
        )
