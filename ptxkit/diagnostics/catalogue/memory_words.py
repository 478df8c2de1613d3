"""Texts of PTX623 and of the codes above it: words in global memory that order no data, and what only runs show."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.catalogue.ptx6xx import FLAG_UNORDERED, KERNEL_ABORTED, LAST_BLOCK_UNORDERED, UNINITIALIZED_DATA
from ptxkit.diagnostics.message import MessageTemplate

_text = partial(MessageTemplate, LAST_BLOCK_UNORDERED)
STORE_AFTER_LAST_BLOCK_ATOMIC = _text(
    "unordered read of other CTAs' stores (line {2}): nothing orders such a store before the atomic at line {1}, "
    "on which the read depends"
)
ORDER_STORE_BEFORE_ATOMIC = _text(
    "let all threads store before the atomic at line {1}: add `bar.sync 0;` between the two"
)
_text = partial(MessageTemplate, FLAG_UNORDERED)
POLL_IS_WEAK = _text("polls by a weak read, which orders nothing and may never observe another thread's write")
NO_ACQUIRE_AFTER_POLL = _text(
    "whether another thread's stores are ordered before this read: a path from the poll at line {1} leads here without"
    " an acquire of scope `.{scope}`"
)
NO_RELEASE_BEFORE_FLAG = _text(
    "whether the store at line {1} is ordered before what follows the poll of this flag: a path leads here without a"
    " release of scope `.{scope}`"
)
NO_BARRIER_AFTER_POLL = _text(
    "whether a thread that does not poll reads here too early: a path from the poll at line {1} leads here without a"
    " barrier"
)
NO_BARRIER_BEFORE_FLAG = _text(
    "whether the flag signals stores of other threads too early: a path from the store at line {1} leads here without"
    " a barrier"
)
FLAG_SCOPE_TOO_NARROW = _text(
    "whether the poll at line {1} observes this write of the flag, whose scope is narrower than `.{scope}`"
)
NO_FLAG_AFTER_STORE = _text(
    "whether anything signals this store: no path leads from it to a write of the flag of line {1}"
)
FLAG_SIZE_DIFFERS = _text(
    "whether the poll at line {1} observes this write of the flag, which is of another size than the read"
)

WITH_SOME_ARGUMENTS = _text("with some arguments, ")
WITH_SOME_DATA = _text("where loaded data select the same bytes, ")
UNORDERED_AFTER_POLL = _text(
    "{when}another CTA accesses these bytes at line {1}, and nothing orders the two: between the poll at line {2} and"
    " this access is no {missing}"
)
UNORDERED_BEFORE_FLAG = _text(
    "{when}sets a flag that does not order line {1} and the access of another CTA to the same bytes at line {2}:"
    " between line {1} and the flag is no {missing}"
)
FLAG_RACE = _text("writes a flag that another CTA polls at line {1}, and the two do not synchronize: {why}")
POLL_RACE = _text("polls, by a weak read, a word that another CTA writes at line {1}: the two do not synchronize")
MISSING_ACQUIRE = _text("acquire of scope `.{scope}`")
MISSING_RELEASE = _text("release of scope `.{scope}`")
MISSING_BARRIER = _text("barrier for the other threads of the CTA")
SCOPE_IS_NARROWER = _text("its scope is narrower than `.{scope}`")
SIZES_DIFFER = _text("it is of another size than the read")
POLL_OF_FLAG = _text("poll of the flag")
WRITE_OF_FLAG = _text("write of the flag")
ACCESS_OF_OTHER_CTA = _text("access by another CTA")
ACCESS_BEFORE_FLAG = _text("access before the flag is set")
ACQUIRE_AFTER_POLL = _text(
    "make the poll an acquire of scope `.{scope}`, or add `fence.acq_rel.{scope};` after its loop"
)
RELEASE_BEFORE_FLAG = _text(
    "make the write of the flag a release of scope `.{scope}`, or add `fence.acq_rel.{scope};` before it"
)
NOTHING_ORDERS_CTAS = _text(
    "reads global memory that another CTA of the grid writes at line {1}: nothing orders the CTAs"
)
ORDER_CTAS = _text(
    "order the CTAs: by a release after the write and an acquire before the read, by a barrier of the grid, or by two"
    " kernels"
)
BARRIER_AFTER_POLL = _text("add `bar.sync 0;` after the loop that polls")
BARRIER_BEFORE_FLAG = _text("add `bar.sync 0;` before the flag is set, and the release after it")
ACCESS_FLAG_EQUALLY = _text("access the flag by strong operations of the same size whose scope includes both threads")

_text = partial(MessageTemplate, KERNEL_ABORTED)
BREAKPOINT_EXECUTED = _text("the kernel executed `brkpt`, and no debugger is attached")
TRAP_EXECUTED = _text("the kernel executed `trap`")
STACK_TOO_SMALL = _text("the stack of a thread needs {size} bytes; the limit is {limit}")
ASSERTION_FAILED = _text("{file}:{line}: {function}: assertion `{assertion}` failed")

_text = partial(MessageTemplate, UNINITIALIZED_DATA)
FINDING_DEPENDS = _text("whether this happens depends on it: {message}")
LOCATION_DEPENDS = _text("{location} depends on it")
UNWRITTEN_REGISTER_READ = _text(
    "reads {name}, which this thread has not written, and {effect}",
    missing="a value for the register on every path to this instruction",
)
UNWRITTEN_DATA_DECIDES = _text(
    "uninitialized data determines whether this happens: {message}",
    missing="a store to what is read, before it is read",
)
UNWRITTEN_DATA_STORED = _text(
    "stores to {location} a value that depends on memory or registers that were never written",
    missing="a store to what is read, before it is read",
)
