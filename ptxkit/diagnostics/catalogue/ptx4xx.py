"""PTX4xx: proxies, tensor maps and the memory model of copies."""

from __future__ import annotations

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate

MISSING_PROXY_FENCE = DiagnosticCode("PTX401", "missing-proxy-fence", sections=("Async Proxy", "membar / fence"))
READER_MAY_BE_IN_ONE_WARP = MessageTemplate(MISSING_PROXY_FENCE, "block size unknown; the block may be one warp")
READ_MAY_BE_UNFENCED = MessageTemplate(
    MISSING_PROXY_FENCE, "address unknown; the read may be of bytes that were written without a proxy fence"
)
NO_FENCE_PROVEN = MessageTemplate(
    MISSING_PROXY_FENCE,
    "no proxy fence is proven to be between it and the write at line {1}, which may be of the same bytes",
)
NO_PROXY_FENCE_BETWEEN = MessageTemplate(
    MISSING_PROXY_FENCE,
    (
        "{access} through {proxy} proxy {size} bytes of {variable} that thread {thread}{cta} {earlier} "
        "through {earlier_proxy} one{at}: no fence is between"
    ),
    missing="`fence.proxy.async` after the first access and before its release, or before the second access",
)
BEFORE_READ_IN_READER = MessageTemplate(MISSING_PROXY_FENCE, "before line {0}, in the thread that reads")
AFTER_WRITE_IN_WRITERS = MessageTemplate(MISSING_PROXY_FENCE, "after line {1}, in every thread that writes")
HALF_OF_FENCE = MessageTemplate(MISSING_PROXY_FENCE, "half of a fence: its counterpart is missing")
ADD_ONE_WAY_FENCE = MessageTemplate(MISSING_PROXY_FENCE, "add `fence.proxy.async::generic.{semantics};` {place}")
FENCE_AT_LINE = MessageTemplate(MISSING_PROXY_FENCE, "the fence at line {2}")
THE_WRITE = MessageTemplate(MISSING_PROXY_FENCE, "the write")
AFTER_AND_BEFORE = MessageTemplate(MISSING_PROXY_FENCE, "after {after} and before line {0}")
BETWEEN = MessageTemplate(MISSING_PROXY_FENCE, "after {after}, before line {0}")
ADD_BARRIER = MessageTemplate(MISSING_PROXY_FENCE, "add `{barrier}` {place}")
ADD_FENCE_AND_BARRIER = MessageTemplate(MISSING_PROXY_FENCE, "add `{fence}` and then `{barrier}` {place}")
UNORDERED_ASYNC_READ = MessageTemplate(
    MISSING_PROXY_FENCE,
    "reads {variable} through the async proxy; other threads write it at line {1}, and nothing orders them",
)
GENERIC_WRITE_BY_ALL = MessageTemplate(MISSING_PROXY_FENCE, "generic write, by every thread")
ORDERS_PROXIES_ONLY = MessageTemplate(MISSING_PROXY_FENCE, "orders the proxies, not the threads")
ORDERS_THREADS_ONLY = MessageTemplate(MISSING_PROXY_FENCE, "orders the threads, not the proxies")
BEFORE_BARRIER = MessageTemplate(MISSING_PROXY_FENCE, "before the barrier at line {2}")
BEFORE_READ = MessageTemplate(MISSING_PROXY_FENCE, "before line {0}")
BEFORE_ARRIVAL = MessageTemplate(
    MISSING_PROXY_FENCE, "before it arrives at the mbarrier whose phase is waited for at line {2}"
)
ASYNC_READ_WITHOUT_FENCE = MessageTemplate(
    MISSING_PROXY_FENCE,
    "reads {variable} through the async proxy, but the write at line {1} went through the generic proxy",
)
GENERIC_WRITE = MessageTemplate(MISSING_PROXY_FENCE, "generic write")
ADD_PROXY_FENCE = MessageTemplate(
    MISSING_PROXY_FENCE, "add `fence.proxy.async.shared::cta;` after the write, in every thread that writes, {place}"
)
ORDER_BY_MBARRIER = MessageTemplate(
    MISSING_PROXY_FENCE,
    "let the writers arrive at an mbarrier after {after}, and wait for its phase before line {0}{fence}",
)
FENCE_BEFORE_ARRIVAL = MessageTemplate(MISSING_PROXY_FENCE, "; add `{fence}` before they arrive")

REFILL_WITHOUT_PROXY_FENCE = DiagnosticCode(
    "PTX402",
    "refill-without-proxy-fence",
    Severity.WARNING,
    sections=("Async Proxy", "membar / fence", "Causality Order"),
)
REFILL_MAY_BE_UNFENCED = MessageTemplate(
    REFILL_WITHOUT_PROXY_FENCE, "address unknown; the write may be into bytes that were used without a proxy fence"
)
REFILL_WITHOUT_FENCE = MessageTemplate(
    REFILL_WITHOUT_PROXY_FENCE,
    "copies into {variable}, which line {1} {access} through the generic proxy, with no proxy fence between",
)
GENERIC_ACCESS = MessageTemplate(REFILL_WITHOUT_PROXY_FENCE, "generic {access}")
ADD_FENCE_BEFORE_RELEASE = MessageTemplate(
    REFILL_WITHOUT_PROXY_FENCE, "add `fence.proxy.async.shared::cta;` after line {1}, before the memory is released"
)

TENSOR_MAP_FENCE = DiagnosticCode("PTX403", "tensor-map-fence", sections=("membar / fence", "tensormap.cp_fenceproxy"))
TENSOR_MAP_CHANGE_NOT_FENCED = MessageTemplate(
    TENSOR_MAP_FENCE,
    (
        "copies with a tensor map that thread {thread} changes at line {1}: the tensormap proxy may "
        "still use the old map"
    ),
    missing="`fence.proxy.tensormap::generic.release` after the change, and `.acquire` of the map before the copy",
)
NO_TENSOR_MAP = MessageTemplate(
    TENSOR_MAP_FENCE, "there is no tensor map at 0x{address:x}: pass a TensorMap, or copy one and replace its fields"
)
NO_TENSOR_MAP_OF_RANK = MessageTemplate(
    TENSOR_MAP_FENCE, "a copy of {rank} dimensions uses a tensor map of {actual}: pass a map of as many dimensions"
)
NO_TENSOR_MAP_OF_MODE = MessageTemplate(
    TENSOR_MAP_FENCE, "there is no tensor map for `.{mode}` at 0x{address:x}: its mode is {actual}"
)
NO_RELEASE_AFTER_CHANGE = MessageTemplate(
    TENSOR_MAP_FENCE, "no `fence.proxy.tensormap::generic.release` follows the change"
)
ADD_RELEASE_AND_ACQUIRE = MessageTemplate(
    TENSOR_MAP_FENCE,
    "add `fence.proxy.tensormap::generic.release.gpu;` after line {1}, and the acquire of the map after it",
)
NO_ACQUIRE_OF_CHANGE = MessageTemplate(TENSOR_MAP_FENCE, "nothing acquires the change for the tensormap proxy")
ADD_ACQUIRE_BEFORE_COPY = MessageTemplate(
    TENSOR_MAP_FENCE,
    "add `fence.proxy.tensormap::generic.acquire.gpu [map], 128;` before line {0}, with the address of this map",
)
CHANGED_MAP_USED = MessageTemplate(TENSOR_MAP_FENCE, "copies with a tensor map that line {1} changed, but {reason}")
MAP_CHANGED = MessageTemplate(TENSOR_MAP_FENCE, "the map is changed, through the generic proxy")
MAP_CHANGED_BY_OTHER_THREAD = MessageTemplate(
    TENSOR_MAP_FENCE, "copies with a tensor map that another thread changes at line {1}, and nothing orders them"
)
MAP_CHANGED_BY_OTHERS = MessageTemplate(TENSOR_MAP_FENCE, "the map is changed, by other threads")
ADD_BARRIER_AND_ACQUIRE = MessageTemplate(
    TENSOR_MAP_FENCE,
    "add `bar.sync 0;` after line {1}, and `fence.proxy.tensormap::generic.acquire.gpu [map], 128;` after it",
)
GLOBAL_MAP_NEVER_ACQUIRED = MessageTemplate(
    TENSOR_MAP_FENCE,
    ("copies with a tensor map in global memory that nothing in this kernel acquires for the tensormap proxy"),
)
ACQUIRE_ONCE_OR_PASS_MAP = MessageTemplate(
    TENSOR_MAP_FENCE,
    (
        "add `fence.proxy.tensormap::generic.acquire.sys [map], 128;` once before the copies, or pass the "
        "map itself, as a `.param` of 128 bytes"
    ),
)
WAIT_OF_BULK_GROUP = MessageTemplate(TENSOR_MAP_FENCE, "`cp.async.bulk.wait_group.read 0;`")
WAIT_FOR_ITS_MBARRIER = MessageTemplate(TENSOR_MAP_FENCE, "a wait for its mbarrier")
MAP_CHANGED_DURING_COPY = MessageTemplate(
    TENSOR_MAP_FENCE, "changes a tensor map while the copy at line {1} that uses it is still in flight"
)
COPY_READS_MAP_ANY_TIME = MessageTemplate(
    TENSOR_MAP_FENCE, "this copy may read the map at any time until it has been waited for"
)
ADD_WAIT_BEFORE_CHANGE = MessageTemplate(TENSOR_MAP_FENCE, "add {wait} before line {0}")

MISSING_REMOTE_PROXY_FENCE = DiagnosticCode(
    "PTX404", "missing-remote-proxy-fence", sections=("Async Proxy", "Causality Order", "membar / fence")
)
NO_FENCE_IN_THIS_CTA = MessageTemplate(
    MISSING_REMOTE_PROXY_FENCE,
    (
        "{access} through the async proxy {size} bytes of {variable} that thread {thread}{cta} {earlier} "
        "through it for another CTA{at}: no fence is between"
    ),
    missing="`fence.proxy.async` in this CTA, after the acquire",
)
ONLY_FENCE_IN_WRITER = MessageTemplate(MISSING_REMOTE_PROXY_FENCE, "; the only fence is in the CTA that writes")
REMOTE_WRITE_READ_WITHOUT_FENCE = MessageTemplate(
    MISSING_REMOTE_PROXY_FENCE,
    (
        "reads shared memory through the async proxy, which another CTA wrote through the generic proxy at "
        "line {1}{fences}"
    ),
)
GENERIC_WRITE_OF_OTHER_CTA = MessageTemplate(MISSING_REMOTE_PROXY_FENCE, "generic write by another CTA")
ADD_FENCE_AFTER_MEETING = MessageTemplate(
    MISSING_REMOTE_PROXY_FENCE, "add `fence.proxy.async.shared::cta;` before line {0}, after the CTAs have synchronized"
)
TWO_CTAS_WITHOUT_FENCE = MessageTemplate(
    MISSING_REMOTE_PROXY_FENCE,
    (
        "two CTAs use the same shared memory through the async proxy, here and at line {1}, with no proxy "
        "fence in {missing}"
    ),
)
FIRST_CTA = MessageTemplate(MISSING_REMOTE_PROXY_FENCE, "the one that uses it first")
SECOND_CTA = MessageTemplate(MISSING_REMOTE_PROXY_FENCE, "the one that uses it next")
EITHER_CTA = MessageTemplate(MISSING_REMOTE_PROXY_FENCE, "either of them")
ASYNC_ACCESS_OF_OTHER_CTA = MessageTemplate(MISSING_REMOTE_PROXY_FENCE, "asynchronous access of another CTA")
ADD_FENCE_IN_BOTH_CTAS = MessageTemplate(
    MISSING_REMOTE_PROXY_FENCE,
    "add `fence.proxy.async.shared::cluster;` in both CTAs, before and after what orders them",
)

OPERAND_OVERWRITE_WITHOUT_FENCE = DiagnosticCode(
    "PTX405",
    "operand-overwrite-without-fence",
    Severity.WARNING,
    sections=("Async Proxy", "Memory Consistency Model for 5th generation of TensorCore operations", "membar / fence"),
)
OPERAND_STORED_WITHOUT_FENCE = MessageTemplate(
    OPERAND_OVERWRITE_WITHOUT_FENCE,
    ("writes {variable}, which the operation at line {1} read through the async proxy, with no proxy fence between"),
)
ASYNC_READ_OF_OPERAND = MessageTemplate(OPERAND_OVERWRITE_WITHOUT_FENCE, "asynchronous read of the operand")
ADD_FENCE_AFTER_OPERATION = MessageTemplate(
    OPERAND_OVERWRITE_WITHOUT_FENCE,
    "add `fence.proxy.async.shared::cta;` after the wait for the operation, before line {0}",
)

POLLED_COPY_WITHOUT_FENCE = DiagnosticCode(
    "PTX406",
    "polled-copy-without-fence",
    Severity.WARNING,
    sections=("Async Proxy", "Causality Order", "membar / fence"),
)
POLLED_COPY_SEEN = MessageTemplate(
    POLLED_COPY_WITHOUT_FENCE,
    (
        "`{action}` copies global memory that other threads may have written before they set the flag read "
        "at line {1}: no proxy fence is between"
    ),
    missing="`fence.proxy.async.global` after the wait",
)
COPY_AFTER_POLL_WITHOUT_FENCE = MessageTemplate(
    POLLED_COPY_WITHOUT_FENCE,
    (
        "copies global memory that other threads may have written before they set the flag read at line {1}: "
        "no proxy fence is between"
    ),
)
WAITS_FOR_FLAG = MessageTemplate(POLLED_COPY_WITHOUT_FENCE, "waits for the flag")
ADD_FENCE_AFTER_LOOP = MessageTemplate(
    POLLED_COPY_WITHOUT_FENCE, "add `fence.proxy.async.global;` after the loop, before line {0}"
)

MIXED_REDUCTIONS = DiagnosticCode(
    "PTX407",
    "mixed-reductions",
    Severity.WARNING,
    sections=("Conflict and Data-races", "Morally strong operations", "cp.reduce.async.bulk"),
)
ATOMICS_OF_DIFFERENT_PROXIES = MessageTemplate(
    MIXED_REDUCTIONS,
    (
        "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: atomics "
        "through different proxies are not atomic to each other"
    ),
    missing="a barrier, or one proxy for all updates",
)
WORD_UPDATED_BY_BOTH_PROXIES = MessageTemplate(
    MIXED_REDUCTIONS,
    (
        "updates a word through the async proxy that line {1} updates through the generic proxy: the two are "
        "not atomic to each other"
    ),
)
UPDATE_OF_SAME_WORD = MessageTemplate(MIXED_REDUCTIONS, "update of the same word")
UPDATE_BY_ONE_KIND = MessageTemplate(MIXED_REDUCTIONS, "update it by one kind of instruction, or use separate words")

WRITE_TO_READ_ONLY_DATA = DiagnosticCode(
    "PTX408",
    "write-to-read-only-data",
    sections=("Data Movement and Conversion Instructions: ld.global.nc", "Scope and applicability of the model"),
)
NON_COHERENT_LOAD_BEFORE_OWN_WRITE = MessageTemplate(
    WRITE_TO_READ_ONLY_DATA, "loads data through the non-coherent cache that the same thread later writes at line {1}"
)
WRITE_OF_SAME_BYTES = MessageTemplate(WRITE_TO_READ_ONLY_DATA, "write of the same bytes")
LOAD_WITHOUT_NC = MessageTemplate(
    WRITE_TO_READ_ONLY_DATA, "load it without `.nc`, which is for data that does not change while the kernel runs"
)
LATER_WRITES = MessageTemplate(WRITE_TO_READ_ONLY_DATA, "later writes at line {1}")
WRITES_AT_LINE = MessageTemplate(WRITE_TO_READ_ONLY_DATA, "writes at line {1}")
NON_COHERENT_LOAD_OF_WRITTEN_DATA = MessageTemplate(
    WRITE_TO_READ_ONLY_DATA,
    ("loads data through the non-coherent cache that the kernel {when}: such data must not change while it runs"),
)
USE_COHERENT_LOAD = MessageTemplate(WRITE_TO_READ_ONLY_DATA, "load it without `.nc`")
