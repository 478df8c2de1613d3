"""Families of litmus tests in which one thread passes memory to another: every form of synchronization, for each use of
memory that an asynchronous instruction makes; and the phases, counts and values of mbarrier objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from litmus_lib.async_families import ASYNC_ORDER, ASYNC_PROXY, BULK, COPY, GROUPS, MBARRIER
from litmus_lib.async_words import SuiteTest

Words = tuple[str, ...]

PATTERNS = "Release and Acquire Patterns; Memory synchronization"

HANDOFFS: dict[str, tuple[Words, Words, bool]] = {
    "named_barrier": (("named arrive",), ("named sync",), True),
    "flag": (("flag",), ("poll",), True),
    "flag_by_reduction": (("flag by red",), ("poll",), True),
    "relaxed_flag": (("flag relaxed",), ("poll",), False),
    "relaxed_poll": (("flag",), ("poll relaxed",), False),
    "fenced_flag": (("fence memory", "flag relaxed"), ("poll relaxed", "fence memory"), True),
    "fenced_flag_only": (("fence memory", "flag relaxed"), ("poll relaxed",), False),
    "fenced_poll_only": (("flag relaxed",), ("poll relaxed", "fence memory"), False),
    "gate": (("open gate",), ("pass gate",), True),
    "relaxed_gate": (("open gate relaxed",), ("pass gate",), False),
    "fenced_gate": (("fence memory", "open gate relaxed"), ("pass gate",), True),
    "gate_of_other_parity": (("open gate",), ("pass gate 1",), False),
}
"""Ways to synchronize two threads of a CTA: of the one that goes first, of the other, and whether they order memory."""

USES: dict[str, tuple[Words, Words, str, str]] = {
    "store_to_load": (("put",), ("get",), "ok", PATTERNS),
    "store_fence_to_bulk_store": (("put", "fence"), ("store", "commit", "done 0"), "ok", ASYNC_PROXY),
    "store_to_fence_bulk_store": (("put",), ("fence", "store", "commit", "done 0"), "ok", ASYNC_PROXY),
    "store_to_bulk_store": (("put",), ("store", "commit", "done 0"), "bad", ASYNC_PROXY),
    "bulk_load_to_load": (("expect", "load", "wait"), ("get",), "ok", BULK),
    "copy_to_load": (("copy", "copy wait all"), ("get",), "ok", COPY),
    "load_to_bulk_load": (("get",), ("expect", "load", "wait"), "silent", ASYNC_PROXY),
    "load_fence_to_bulk_load": (("get", "fence"), ("expect", "load", "wait"), "ok", ASYNC_PROXY),
    "bulk_store_to_load": (("store", "commit", "done 0"), ("get g",), "ok", GROUPS),
    "bulk_store_read_to_store": (("store", "commit", "read 0"), ("put",), "ok", GROUPS),
    "bulk_store_read_to_load": (("store", "commit", "read 0"), ("get g",), "bad", GROUPS),
}
"""What the first thread did, what the other one does, and the verdict if they are synchronized."""


def within_a_cta() -> Iterator[SuiteTest]:
    """Every form of synchronization, for each use."""
    for use, (first, second, verdict, sections) in USES.items():
        for handoff, (give, take, orders) in HANDOFFS.items():
            threads = (("init", "init gate", "clear", "bar", *first, *give), ("bar", *take, *second))
            title = f"{use}, by {handoff}."
            yield SuiteTest(
                f"{use}_by_{handoff}", title, verdict if orders else "bad", threads, f"{sections}; {PATTERNS}"
            )


BETWEEN: dict[str, tuple[Words, Words, bool]] = {
    "flag": (("signal",), ("await",), True),
    "cluster_flag": (("signal cluster",), ("await cluster",), True),
    "flag_of_cta_scope": (("signal cta",), ("await",), False),
    "relaxed_flag": (("signal relaxed",), ("await",), False),
    "cluster_barrier": (("cluster arrive", "cluster wait"), ("cluster arrive", "cluster wait"), True),
    "relaxed_cluster_barrier": (("cluster relaxed", "cluster wait"), ("cluster relaxed", "cluster wait"), False),
}
"""Ways to synchronize two CTAs of a cluster."""


def between_ctas() -> Iterator[SuiteTest]:
    """Every form of synchronization two CTAs, for uses of global and of distributed shared memory."""
    join = ("cluster arrive", "cluster wait")
    uses: dict[str, tuple[Words, Words, str]] = {
        "global_store_to_fence_bulk_load": (("put g",), ("fence", "expect", "load", "wait"), "ok"),
        "global_store_to_bulk_load": (("put g",), ("expect", "load", "wait"), "bad"),
        "global_store_fence_to_bulk_load": (("put g", "fence"), ("expect", "load", "wait"), "silent"),
        "distributed_store_to_load": (("map 1", "put far"), ("get",), "ok"),
        "distributed_load_to_store": (("map 1", "get far"), ("put",), "ok"),
    }
    for use, (first, second, verdict) in uses.items():
        for handoff, (give, take, orders) in BETWEEN.items():
            threads = (("init", *join, *first, *give, *join), ("init", *join, *take, *second, *join))
            expected = verdict if orders else "bad"
            yield SuiteTest(
                f"{use}_by_{handoff}", f"{use}, by {handoff}.", expected, threads, f"{ASYNC_PROXY}; {PATTERNS}", (0, 1)
            )


def spellings_of_waits() -> Iterator[SuiteTest]:
    """Each form of a wait for an mbarrier, for a copy and for an arrival."""
    waits: dict[str, tuple[Words, bool]] = {
        "test_wait": (("wait test",), True),
        "acquire_cta": (("wait acquire cta",), True),
        "acquire_cluster": (("wait cluster",), True),
        "relaxed_cluster": (("wait relaxed cluster",), False),
        "relaxed_cluster_fence": (("wait relaxed cluster", "cluster fence"), True),
        "relaxed_test": (("wait test relaxed",), False),
        "relaxed_test_fence": (("wait test relaxed", "fence memory"), True),
        "wait_twice": (("wait", "wait"), True),
        "relaxed_then_acquire": (("wait relaxed", "wait"), True),
    }
    for name, (words, orders) in waits.items():
        verdict = "ok" if orders else "bad"
        copy = (("init", "expect", "load", *words, "get"),)
        yield SuiteTest(f"bulk_load_by_{name}", f"A load after a wait for a bulk copy: {name}.", verdict, copy, BULK)
        threads = (("init", "bar", "put", "arrive"), ("bar", *words, "get"))
        yield SuiteTest(
            f"arrival_by_{name}", f"A load after a wait for an arrival: {name}.", verdict, threads, MBARRIER
        )
    for name, word in (("try_wait", "wait token"), ("test_wait", "test token")):
        words = ("init", "expect token", "load", word, "get")
        yield SuiteTest(
            f"bulk_load_by_token_{name}", f"A load after a wait with a state token: {name}.", "ok", (words,), BULK
        )


def phases() -> Iterator[SuiteTest]:
    """Two phases of a ring with one buffer."""
    first = ("expect", "load")
    for name, producer, consumer, verdict in (
        ("both_waits", ("pass gate", *first), ("wait", "get", "open gate", "wait 1", "get"), "silent"),
        ("fenced", ("pass gate", *first), ("wait", "get", "fence", "open gate", "wait 1", "get"), "ok"),
        ("fence_of_producer", ("pass gate", "fence", *first), ("wait", "get", "open gate", "wait 1", "get"), "ok"),
        ("no_empty_wait", ("wait", *first), ("wait", "get", "fence", "open gate", "wait 1", "get"), "bad"),
        ("empty_arrival_before_the_load", ("pass gate", *first), ("wait", "open gate", "get", "wait 1", "get"), "bad"),
        (
            "relaxed_empty_arrival",
            ("pass gate", *first),
            ("wait", "get", "fence", "open gate relaxed", "wait 1", "get"),
            "bad",
        ),
        ("same_parity_twice", ("pass gate", *first), ("wait", "get", "fence", "open gate", "wait", "get"), "bad"),
        (
            "wrong_parity_of_empty",
            ("wait", "pass gate 1", *first),
            ("wait", "get", "fence", "open gate", "wait 1", "get"),
            "bad",
        ),
    ):
        threads = (("init", "init gate", "bar", *first, *producer), ("bar", *consumer))
        yield SuiteTest(
            f"ring_{name}",
            f"A buffer is filled twice: {name}.",
            verdict,
            threads,
            f"Phase of the mbarrier object; {ASYNC_PROXY}",
        )


def overlaps() -> Iterator[SuiteTest]:
    """Two accesses of one buffer, of which at least one is asynchronous, in one thread."""
    load, copy = ("expect", "load"), ("copy", "copy wait all")
    for name, words, verdict, sections in (
        ("own_load_then_bulk_load", ("get", *load, "wait"), "silent", ASYNC_PROXY),
        ("own_load_fence_then_bulk_load", ("get", "fence", *load, "wait"), "ok", ASYNC_PROXY),
        ("two_bulk_loads_race", ("init gate", *load, "load", "wait"), "bad", BULK),
        ("two_bulk_loads_in_turn", (*load, "wait", *load, "wait 1"), "ok", BULK),
        ("copy_then_bulk_load", (*copy, *load, "wait"), "silent", ASYNC_PROXY),
        ("copy_fence_then_bulk_load", (*copy, "fence", *load, "wait"), "ok", ASYNC_PROXY),
        ("copy_in_flight_then_bulk_load", ("copy", *load, "wait", "copy wait all"), "bad", ASYNC_ORDER),
        ("bulk_load_then_copy", (*load, "wait", *copy), "ok", BULK),
        ("bulk_load_in_flight_then_copy", (*load, *copy, "wait"), "bad", BULK),
        ("bulk_store_then_copy_over_source", ("store", "commit", "read 0", *copy), "ok", GROUPS),
        ("bulk_store_in_flight_then_copy_over_source", ("store", "commit", *copy, "read 0"), "bad", GROUPS),
        ("bulk_store_then_load_of_source", ("store", "get", "commit", "done 0"), "ok", BULK),
        ("bulk_load_then_load_of_source", (*load, "wait", "fence", "put g"), "ok", BULK),
        ("store_over_source_of_bulk_load", (*load, "put g", "wait"), "bad", BULK),
        ("store_over_source_of_copy", ("copy", "put g", "copy wait all"), "bad", COPY),
        ("store_over_source_of_complete_copy", (*copy, "put g"), "ok", COPY),
        (
            "atomic_and_reduction_race",
            ("reduce", "commit", "atomic g", "done 0"),
            "bad",
            "cp.reduce.async.bulk; Morally strong operations",
        ),
        (
            "atomic_after_reduction",
            ("reduce", "commit", "done 0", "atomic g"),
            "ok",
            "cp.reduce.async.bulk; cp.async.bulk.wait_group",
        ),
        ("two_bulk_stores_of_one_source", ("store", "store", "commit", "done 0", "put"), "bad", BULK),
    ):
        yield SuiteTest(name, f"{name}.".capitalize(), verdict, (("init", *words),), sections)


def counts() -> Iterator[SuiteTest]:
    """The counts of arrivals and bytes that complete a phase, and the life of the object."""
    for name, words, verdict in (
        ("expect_before_arrival", ("init", "expect only", "load", "arrive", "wait", "get"), "ok"),
        ("copy_before_expect", ("init 2", "load", "expect", "arrive", "wait", "get"), "ok"),
        ("arrival_of_two", ("init 2", "expect only", "load", "arrive 2", "wait", "get"), "ok"),
        ("arrival_before_expect", ("init", "arrive", "expect only", "load", "wait", "get"), "bad"),
        ("bytes_completed_early", ("init", "expect", "complete", "wait", "load", "get"), "bad"),
        ("expected_too_few_bytes", ("init", "arrive", "load", "wait", "get"), "bad"),
        ("second_init", ("init", "init", "expect", "load", "wait", "get"), "bad"),
        ("init_after_inval", ("init", "inval", "init", "expect", "load", "wait", "get"), "ok"),
        ("use_after_inval", ("init", "inval", "arrive"), "bad"),
        ("drop_completes_the_phase", ("init", "put", "arrive drop", "wait", "get"), "ok"),
    ):
        yield SuiteTest(
            f"count_{name}",
            f"The counts of an mbarrier object: {name}.",
            verdict,
            (words,),
            "Contents of the mbarrier object; Phase of the mbarrier object; Lifecycle of the mbarrier object",
        )


def values() -> Iterator[SuiteTest]:
    """Final states: what a load may return."""
    for name, threads, ctas, condition, verdict, sections in (
        (
            "stored_after_a_flag",
            (("clear", "bar", "put", "flag"), ("bar", "poll", "get")),
            (),
            "P1:%r1 == 0",
            "ok",
            PATTERNS,
        ),
        (
            "stored_after_a_relaxed_flag",
            (("clear", "bar", "put", "flag relaxed"), ("bar", "poll relaxed", "get")),
            (),
            "P1:%r1 == 0",
            "bad",
            PATTERNS,
        ),
        ("loaded_by_a_copy", (("put g", "copy", "copy wait all", "get"),), (), "P0:%r1 == 0", "ok", COPY),
        ("loaded_too_early", (("put g", "copy", "get", "copy wait all"),), (), "P0:%r1 == 0", "bad", COPY),
        (
            "stored_by_a_bulk_copy",
            (("put", "fence", "store", "commit", "done 0", "get g"),),
            (),
            "P0:%r1 == 0",
            "ok",
            GROUPS,
        ),
        (
            "stored_without_a_fence",
            (("put", "store", "commit", "done 0", "get g"),),
            (),
            "P0:%r1 == 0",
            "bad",
            ASYNC_PROXY,
        ),
        ("read_wait_only", (("put", "fence", "store", "commit", "read 0", "get g"),), (), "P0:%r1 == 0", "bad", GROUPS),
        (
            "sum_of_two_reductions",
            (("put", "fence", "reduce", "reduce", "commit", "done 0", "get g"),),
            (),
            "P0:%r1 != 2",
            "ok",
            "cp.reduce.async.bulk",
        ),
        (
            "overwritten_source",
            (("put", "fence", "store", "commit", "put 2", "done 0", "get g"),),
            (),
            "P0:%r1 == 2",
            "bad",
            GROUPS,
        ),
        (
            "kept_source",
            (("put", "fence", "store", "commit", "read 0", "put 2", "done 0", "get g"),),
            (),
            "P0:%r1 == 2",
            "ok",
            GROUPS,
        ),
        (
            "distributed_store",
            (
                ("cluster arrive", "cluster wait", "map 1", "put far", "cluster arrive", "cluster wait"),
                ("cluster arrive", "cluster wait", "cluster arrive", "cluster wait", "get"),
            ),
            (0, 1),
            "P1:%r1 == 0",
            "ok",
            "barrier.cluster",
        ),
    ):
        yield SuiteTest(
            f"value_{name}",
            f"The value that a load returns: {name}.",
            verdict,
            threads,
            sections,
            ctas,
            query=f"~exists: {condition}",
        )


def remote_operations() -> Iterator[SuiteTest]:
    """st.async, red.async and copies to the shared memory of another CTA."""
    join = ("cluster arrive", "cluster wait")
    far = (*join, "map 1", "map bar 1")
    for name, first, second, verdict in (
        ("two_reductions", (*far, "red far", "red far"), ("init", "expect 8", *join, "wait cluster", "get"), "ok"),
        ("reduction_and_store", (*far, "red far"), ("init", "expect 4", *join, "put", "wait cluster"), "bad"),
        ("two_stores", (*far, "async put", "async put"), ("init", "expect 8", *join, "wait cluster", "get"), "bad"),
        (
            "store_then_bulk_store",
            (*far, "async put"),
            ("init", "expect 4", *join, "wait cluster", "store", "commit", "done 0"),
            "bad",
        ),
        (
            "store_fence_then_bulk_store",
            (*far, "async put"),
            ("init", "expect 4", *join, "wait cluster", "fence", "store", "commit", "done 0"),
            "ok",
        ),
        ("sent", (*far, "send"), ("init", "expect", *join, "wait cluster", "get"), "ok"),
        ("sent_no_wait", (*far, "send"), ("init", "expect", *join, "get"), "bad"),
        ("sent_source_overwritten", (*far, "send", "put"), ("init", "expect", *join, "wait cluster", "get"), "bad"),
        (
            "sent_source_overwritten_after_reply",
            (*far, "send", "await", "put"),
            ("init", "expect", *join, "wait cluster", "get", "signal"),
            "ok",
        ),
        (
            "sent_stored_source",
            (*join, "put", "map 1", "map bar 1", "send"),
            ("init", "expect", *join, "wait cluster", "get"),
            "bad",
        ),
        (
            "sent_fenced_source",
            (*join, "put", "fence", "map 1", "map bar 1", "send"),
            ("init", "expect", *join, "wait cluster", "get"),
            "ok",
        ),
        (
            "sent_before_init",
            ("map 1", "map bar 1", "send", *join),
            ("init", "expect", *join, "wait cluster", "get"),
            "bad",
        ),
    ):
        threads = ((*first, *join), (*second, *join))
        yield SuiteTest(
            f"remote_{name}",
            f"An operation on the shared memory of another CTA: {name}.",
            verdict,
            threads,
            f"{ASYNC_ORDER}; st.async; red.async; cp.async.bulk",
            (0, 1),
        )
