"""PTX4xx: proxies, tensor maps and the memory model of copies."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate

MISSING_PROXY_FENCE = DiagnosticCode("PTX401", "missing-proxy-fence", sections=("Async Proxy", "membar / fence"))
_text = partial(MessageTemplate, MISSING_PROXY_FENCE)
READER_MAY_BE_IN_ONE_WARP = _text("block size unknown; the block may be one warp")
READ_MAY_BE_UNFENCED = _text("address unknown; the read may be of bytes that were written without a proxy fence")
NO_FENCE_PROVEN = _text(
    "no proxy fence is proven to be between it and the write at line {1}, which may be of the same bytes"
)
NO_PROXY_FENCE_BETWEEN = _text(
    "{access} through {proxy} proxy {size} bytes of {variable} that thread {thread}{cta} {earlier} "
    "through {earlier_proxy} one{at}: no fence is between",
    missing="`fence.proxy.async` after the first access and before its release, or before the second access",
)
BEFORE_READ_IN_READER = _text("before line {0}, in the thread that reads")
AFTER_WRITE_IN_WRITERS = _text("after line {1}, in every thread that writes")
HALF_OF_FENCE = _text("half of a fence: its counterpart is missing")
ADD_ONE_WAY_FENCE = _text("add `fence.proxy.async::generic.{semantics};` {place}")
FENCE_AT_LINE = _text("the fence at line {2}")
THE_WRITE = _text("the write")
AFTER_AND_BEFORE = _text("after {after} and before line {0}")
BETWEEN = _text("after {after}, before line {0}")
ADD_BARRIER = _text("add `{barrier}` {place}")
ADD_FENCE_AND_BARRIER = _text("add `{fence}` and then `{barrier}` {place}")
UNORDERED_ASYNC_READ = _text(
    "reads {variable} through the async proxy; other threads write it at line {1}, and nothing orders them"
)
GENERIC_WRITE_BY_ALL = _text("generic write, by every thread")
ORDERS_PROXIES_ONLY = _text("orders the proxies, not the threads")
ORDERS_THREADS_ONLY = _text("orders the threads, not the proxies")
BEFORE_BARRIER = _text("before the barrier at line {2}")
BEFORE_READ = _text("before line {0}")
BEFORE_ARRIVAL = _text("before it arrives at the mbarrier whose phase is waited for at line {2}")
ASYNC_READ_WITHOUT_FENCE = _text(
    "reads {variable} through the async proxy, but the write at line {1} went through the generic proxy"
)
GENERIC_WRITE = _text("generic write")
ADD_PROXY_FENCE = _text("add `fence.proxy.async.shared::cta;` after the write, in every thread that writes, {place}")
ORDER_BY_MBARRIER = _text(
    "let the writers arrive at an mbarrier after {after}, and wait for its phase before line {0}{fence}"
)
FENCE_BEFORE_ARRIVAL = _text("; add `{fence}` before they arrive")

REFILL_WITHOUT_PROXY_FENCE = DiagnosticCode(
    "PTX402",
    "refill-without-proxy-fence",
    Severity.WARNING,
    sections=("Async Proxy", "membar / fence", "Causality Order"),
)
_text = partial(MessageTemplate, REFILL_WITHOUT_PROXY_FENCE)
REFILL_MAY_BE_UNFENCED = _text("address unknown; the write may be into bytes that were used without a proxy fence")
REFILL_WITHOUT_FENCE = _text(
    "copies into {variable}, which line {1} {access} through the generic proxy, with no proxy fence between"
)
GENERIC_ACCESS = _text("generic {access}")
ADD_FENCE_BEFORE_RELEASE = _text("add `fence.proxy.async.shared::cta;` after line {1}, before the memory is released")

TENSOR_MAP_FENCE = DiagnosticCode("PTX403", "tensor-map-fence", sections=("membar / fence", "tensormap.cp_fenceproxy"))
_text = partial(MessageTemplate, TENSOR_MAP_FENCE)
TENSOR_MAP_CHANGE_NOT_FENCED = _text(
    "copies with a tensor map that thread {thread} changes at line {1}: the tensormap proxy may still use the old map",
    missing="`fence.proxy.tensormap::generic.release` after the change, and `.acquire` of the map before the copy",
)
NO_TENSOR_MAP = _text("there is no tensor map at 0x{address:x}: pass a TensorMap, or copy one and replace its fields")
NO_TENSOR_MAP_OF_RANK = _text(
    "a copy of {rank} dimensions uses a tensor map of {actual}: pass a map of as many dimensions"
)
NO_TENSOR_MAP_OF_MODE = _text("there is no tensor map for `.{mode}` at 0x{address:x}: its mode is {actual}")
NO_RELEASE_AFTER_CHANGE = _text("no `fence.proxy.tensormap::generic.release` follows the change")
ADD_RELEASE_AND_ACQUIRE = _text(
    "add `fence.proxy.tensormap::generic.release.gpu;` after line {1}, and the acquire of the map after it"
)
NO_ACQUIRE_OF_CHANGE = _text("nothing acquires the change for the tensormap proxy")
ADD_ACQUIRE_BEFORE_COPY = _text(
    "add `fence.proxy.tensormap::generic.acquire.gpu [map], 128;` before line {0}, with the address of this map"
)
CHANGED_MAP_USED = _text("copies with a tensor map that line {1} changed, but {reason}")
MAP_CHANGED = _text("the map is changed, through the generic proxy")
MAP_CHANGED_BY_OTHER_THREAD = _text(
    "copies with a tensor map that another thread changes at line {1}, and nothing orders them"
)
MAP_CHANGED_BY_OTHERS = _text("the map is changed, by other threads")
ADD_BARRIER_AND_ACQUIRE = _text(
    "add `bar.sync 0;` after line {1}, and `fence.proxy.tensormap::generic.acquire.gpu [map], 128;` after it"
)
GLOBAL_MAP_NEVER_ACQUIRED = _text(
    "copies with a tensor map in global memory that nothing in this kernel acquires for the tensormap proxy"
)
ACQUIRE_ONCE_OR_PASS_MAP = _text(
    "add `fence.proxy.tensormap::generic.acquire.sys [map], 128;` once before the copies, or pass the "
    "map itself, as a `.param` of 128 bytes"
)
WAIT_OF_BULK_GROUP = _text("`cp.async.bulk.wait_group.read 0;`")
WAIT_FOR_ITS_MBARRIER = _text("a wait for its mbarrier")
MAP_CHANGED_DURING_COPY = _text("changes a tensor map while the copy at line {1} that uses it is still in flight")
COPY_READS_MAP_ANY_TIME = _text("this copy may read the map at any time until it has been waited for")
ADD_WAIT_BEFORE_CHANGE = _text("add {wait} before line {0}")

MISSING_REMOTE_PROXY_FENCE = DiagnosticCode(
    "PTX404", "missing-remote-proxy-fence", sections=("Async Proxy", "Causality Order", "membar / fence")
)
_text = partial(MessageTemplate, MISSING_REMOTE_PROXY_FENCE)
NO_FENCE_IN_THIS_CTA = _text(
    "{access} through the async proxy {size} bytes of {variable} that thread {thread}{cta} {earlier} "
    "through it for another CTA{at}: no fence is between",
    missing="`fence.proxy.async` in this CTA, after the acquire",
)
ONLY_FENCE_IN_WRITER = _text("; the only fence is in the CTA that writes")
REMOTE_WRITE_READ_WITHOUT_FENCE = _text(
    "reads shared memory through the async proxy, which another CTA wrote through the generic proxy at line {1}{fences}"
)
GENERIC_WRITE_OF_OTHER_CTA = _text("generic write by another CTA")
ADD_FENCE_AFTER_MEETING = _text(
    "add `fence.proxy.async.shared::cta;` before line {0}, after the CTAs have synchronized"
)
TWO_CTAS_WITHOUT_FENCE = _text(
    "two CTAs use the same shared memory through the async proxy, here and at line {1}, with no proxy "
    "fence in {missing}"
)
FIRST_CTA = _text("the one that uses it first")
SECOND_CTA = _text("the one that uses it next")
EITHER_CTA = _text("either of them")
ASYNC_ACCESS_OF_OTHER_CTA = _text("asynchronous access of another CTA")
ADD_FENCE_IN_BOTH_CTAS = _text(
    "add `fence.proxy.async.shared::cluster;` in both CTAs, before and after what orders them"
)

OPERAND_OVERWRITE_WITHOUT_FENCE = DiagnosticCode(
    "PTX405",
    "operand-overwrite-without-fence",
    Severity.WARNING,
    sections=("Async Proxy", "Memory Consistency Model for 5th generation of TensorCore operations", "membar / fence"),
)
_text = partial(MessageTemplate, OPERAND_OVERWRITE_WITHOUT_FENCE)
OPERAND_STORED_WITHOUT_FENCE = _text(
    "writes {variable}, which the operation at line {1} read through the async proxy, with no proxy fence between"
)
ASYNC_READ_OF_OPERAND = _text("asynchronous read of the operand")
ADD_FENCE_AFTER_OPERATION = _text(
    "add `fence.proxy.async.shared::cta;` after the wait for the operation, before line {0}"
)

POLLED_COPY_WITHOUT_FENCE = DiagnosticCode(
    "PTX406",
    "polled-copy-without-fence",
    Severity.WARNING,
    sections=("Async Proxy", "Causality Order", "membar / fence"),
)
_text = partial(MessageTemplate, POLLED_COPY_WITHOUT_FENCE)
POLLED_COPY_SEEN = _text(
    "`{action}` copies global memory that other threads may have written before they set the flag read "
    "at line {1}: no proxy fence is between",
    missing="`fence.proxy.async.global` after the wait",
)
COPY_AFTER_POLL_WITHOUT_FENCE = _text(
    "copies global memory that other threads may have written before they set the flag read at line {1}: "
    "no proxy fence is between"
)
WAITS_FOR_FLAG = _text("waits for the flag")
ADD_FENCE_AFTER_LOOP = _text("add `fence.proxy.async.global;` after the loop, before line {0}")

MIXED_REDUCTIONS = DiagnosticCode(
    "PTX407",
    "mixed-reductions",
    Severity.WARNING,
    sections=("Conflict and Data-races", "Morally strong operations", "cp.reduce.async.bulk"),
)
_text = partial(MessageTemplate, MIXED_REDUCTIONS)
ATOMICS_OF_DIFFERENT_PROXIES = _text(
    "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: atomics "
    "through different proxies are not atomic to each other",
    missing="a barrier, or one proxy for all updates",
)
WORD_UPDATED_BY_BOTH_PROXIES = _text(
    "updates a word through the async proxy that line {1} updates through the generic proxy: the two are "
    "not atomic to each other"
)
UPDATE_OF_SAME_WORD = _text("update of the same word")
UPDATE_BY_ONE_KIND = _text("update it by one kind of instruction, or use separate words")

WRITE_TO_READ_ONLY_DATA = DiagnosticCode(
    "PTX408",
    "write-to-read-only-data",
    sections=("Data Movement and Conversion Instructions: ld.global.nc", "Scope and applicability of the model"),
)
_text = partial(MessageTemplate, WRITE_TO_READ_ONLY_DATA)
NON_COHERENT_LOAD_BEFORE_OWN_WRITE = _text(
    "loads data through the non-coherent cache that the same thread later writes at line {1}"
)
WRITE_OF_SAME_BYTES = _text("write of the same bytes")
LOAD_WITHOUT_NC = _text("load it without `.nc`, which is for data that does not change while the kernel runs")
LATER_WRITES = _text("later writes at line {1}")
WRITES_AT_LINE = _text("writes at line {1}")
NON_COHERENT_LOAD_OF_WRITTEN_DATA = _text(
    "loads data through the non-coherent cache that the kernel {when}: such data must not change while it runs"
)
USE_COHERENT_LOAD = _text("load it without `.nc`")
