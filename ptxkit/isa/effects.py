"""The effects of an instruction in the table, which are the only facts that analyses know about instructions.

Every effect names operands by role; a `Match` returns the operand of a role. An absent `Expression` (None) means "not
known statically", e.g. the bytes of a tensor copy, which the box in the tensor map determines.

State spaces are PTX's words without the dot: `global`, `shared::cta`, `shared::cluster`, `local`, `const`, `param`,
`generic`, plus `tensor` for Tensor Memory. `.shared` without a suffix is `shared::cta`, as in the ISA.

Every register that an instruction writes has a `Value` effect: if its value is irrelevant to analyses, the value is
`unknown` (or `float`). Registers without a `Value` effect are not written. For a vector destination, one `Value` whose
result is the vector's role covers all its elements: `load` yields consecutive elements, `unpack` the parts from the
lowest bits up, and any other operation an unknown value for each.

Value operations, the functions of a `Value` effect (integers are two's complement of the given width in bits):
`add(w,a,b)`, `sub(w,a,b)`, `mul(w,a,b)`, `mul_wide(w,signed,a,b)`, `mul_hi(w,signed,a,b)`, `div(w,signed,a,b)`,
`rem(w,signed,a,b)`, `neg(w,a)`, `abs(w,a)`, `min(w,signed,a,b)`, `max(w,signed,a,b)`, `and(w,a,b)`, `or(w,a,b)`,
`xor(w,a,b)`, `not(w,a)`, `shl(w,a,n)`, `shr(w,signed,a,n)`, `lop3(a,b,c,table)`, `prmt(a,b,c,mode)`,
`funnel(direction,mode,a,b,c)`, `bfe(w,signed,a,pos,len)`, `bfi(w,a,b,pos,len)`, `popc(w,a)`, `clz(w,a)`, `copy(w,a)`,
`convert(from,to,a)` (types such as `u32`), `select(w,a,b,p)`, `compare(operator,type,a,b)` (a predicate),
`combine(boolop,p,q)` (a predicate), `to_generic(space,a)`, `from_generic(space,a)`, `is_space(space,a)`,
`map_rank(space,a,rank)`, `rank_of(space,a)`, `load(space,address,w)`, `elected`, `shuffle(mode,a,b,c)`,
`redux(op,type,a,members)`, `is_canceled(a)`, `ballot(p)`, `vote(mode,p)`, `pack(w,a)` and `unpack(w,a)` (of elements of
w bits), `float` (some floating-point value), `unknown`.
"""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.expressions import Expression

#: Replaces the role of a mask: all CTAs of the cluster.
ALL = "all"


@dataclass(frozen=True, slots=True)
class Access:
    """A memory access through an address operand (or a descriptor).

    kind: `read`, `write` or `update` (read-modify-write). space: the state space that the form fixes. address: role.
    offset, size: bytes, relative to the address. proxy: `generic`, `async`, `tensormap`. completion: None if the access
    is complete when the instruction is, else the mechanism that signals its completion: `cp.async` (non-bulk group),
    `bulk` (bulk group), `mbarrier` (complete-tx on role `barrier`), `wgmma`, `tcgen05`, or `nothing` for an
    asynchronous store whose completion nothing signals. order: `weak`, `volatile`, `relaxed`, `acquire`, `release`,
    `acq_rel`, `mmio`. via: `address`, or `descriptor` for a matrix descriptor's shared memory, `tensormap` for the
    global side of a tensor copy (its extent is in the map), `multimem` for every location that a multimem address
    refers to. unless: role of a predicate that suppresses the access when true (`ignore-src`). multicast: role of a CTA
    mask, `ALL` for all CTAs of the cluster, or None. lanes: the number of lanes of the warp, from lane 0 on, whose
    addresses are used, if not all are. rows, width, transposed: of a matrix that a descriptor denotes, its rows (of A,
    or columns of B), the bytes of an element, and whether it is transposed, if the descriptor and these determine the
    location of its elements. coherent: false if the bytes may come from a cache that does not observe the writes of the
    kernel.
    """

    kind: str
    space: str
    address: str
    size: Expression | None = None
    proxy: str = "generic"
    completion: str | None = None
    barrier: str | None = None
    order: str = "weak"
    scope: str | None = None
    via: str = "address"
    unless: str | None = None
    multicast: str | None = None
    lanes: Expression | None = None
    rows: Expression | None = None
    width: Expression | None = None
    transposed: Expression | None = None
    coherent: bool = True


@dataclass(frozen=True, slots=True)
class Prefetch:
    """A range of bytes, or a box of a tensor, that is asynchronously prefetched into a cache; its completion is not
    signaled.

    level: of the cache, `L2`. space, address, size, proxy, via: as for an `Access` that reads.
    """

    level: str
    space: str
    address: str
    size: Expression | None = None
    proxy: str = "generic"
    via: str = "address"


@dataclass(frozen=True, slots=True)
class CommitGroup:
    """Commits the thread's open group. group: `cp.async`, `bulk` or `wgmma`."""

    group: str


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """Waits until at most `pending` of the most recent groups are incomplete. read_only: only sources are complete
    (`.read`).

    commits: True for `cp.async.wait_all`, which first commits the open group.
    """

    group: str
    pending: Expression
    read_only: bool = False
    commits: bool = False


@dataclass(frozen=True, slots=True)
class ProxyFence:
    """`fence.proxy.*`. proxy: `async`, `alias`, `tensormap`. spaces: the state spaces that it is restricted to, empty
    for all.

    direction: `both`, `release` (orders earlier generic accesses), `acquire` (orders later accesses by the proxy).
    address: the role of the one object fenced (a tensor map), or None.
    """

    proxy: str
    spaces: tuple[str, ...] = ()
    direction: str = "both"
    scope: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryFence:
    """`fence`, `membar`. order: `acq_rel`, `sc`, `acquire`, `release`. scope: `cta`, `cluster`, `gpu`, `sys`.

    only: `mbarrier.init` for `fence.mbarrier_init`, which publishes nothing else.
    """

    order: str
    scope: str
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    """An execution barrier. level: `warp`, `cta`, `cluster`. action: `sync`, `arrive`, `wait`.

    number, threads: expressions, None if the form has none (barrier 0, all threads); for a warp, `number` is the mask
    of its lanes. order: `acq_rel`, `relaxed` (the lanes of a collective instruction), `release`, `acquire`. aligned:
    all threads of the warp must execute the same instruction.
    """

    level: str
    action: str
    number: Expression | None = None
    threads: Expression | None = None
    order: str = "acq_rel"
    aligned: bool = False


@dataclass(frozen=True, slots=True)
class MbarrierInit:
    """Initializes an mbarrier object whose phases need `count` arrivals."""

    barrier: str
    count: Expression


@dataclass(frozen=True, slots=True)
class MbarrierInvalidate:
    """Invalidates an mbarrier object."""

    barrier: str


@dataclass(frozen=True, slots=True)
class MbarrierArrive:
    """`count` arrivals, after `expect` more bytes if that is not None. state: role of the token, or None.

    space: `shared::cta` or `shared::cluster` (maybe another CTA's object). asynchronous: the hardware arrives later
    (tcgen05.commit).
    """

    barrier: str
    count: Expression
    expect: Expression | None = None
    drop: bool = False
    completes: bool = True
    order: str = "release"
    scope: str = "cta"
    space: str = "shared::cta"
    state: str | None = None
    asynchronous: bool = False
    multicast: str | None = None


@dataclass(frozen=True, slots=True)
class MbarrierExpect:
    """`expect_tx`: the phase waits for `size` more bytes, without an arrival. multicast: role of a CTA mask, or
    None.
    """

    barrier: str
    size: Expression
    space: str = "shared::cta"
    multicast: str | None = None


@dataclass(frozen=True, slots=True)
class MbarrierComplete:
    """complete-tx of `size` bytes: by a copy when it is complete (asynchronous), or immediately. size None: a tensor
    box.

    multicast: role of a CTA mask, `ALL`, or None. paired: of each pair of CTAs with a CTA in the mask, the one is
    signaled whose rank has the same parity as that of the CTA of `barrier`.
    """

    barrier: str
    size: Expression | None
    asynchronous: bool = True
    space: str = "shared::cta"
    multicast: str | None = None
    paired: bool = False


@dataclass(frozen=True, slots=True)
class MbarrierWait:
    """test_wait or try_wait. by: `parity` or `state`, of the role `phase`. result: role of the predicate."""

    barrier: str
    phase: str
    by: str
    result: str
    blocking: bool
    order: str = "acquire"
    scope: str = "cta"


@dataclass(frozen=True, slots=True)
class MbarrierTrack:
    """`cp.async.mbarrier.arrive`: an arrival when the thread's earlier cp.async copies are complete; counted:
    `.noinc`.
    """

    barrier: str
    counted: bool


@dataclass(frozen=True, slots=True)
class AsyncRegisters:
    """Registers that an asynchronous operation reads or writes until a wait for its group (wgmma, tcgen05.ld).

    kind: `read`, `write` or `update`. group: `wgmma`, `tcgen05.ld`, `tcgen05.st`.
    """

    kind: str
    operand: str
    group: str


@dataclass(frozen=True, slots=True)
class RegisterFence:
    """`wgmma.fence`: orders earlier register accesses before later asynchronous ones."""

    group: str


@dataclass(frozen=True, slots=True)
class TensorMemory:
    """tcgen05 allocation. action: `allocate` (address written to role `address`), `deallocate`, `relinquish`.

    columns: their number.
    """

    action: str
    address: str | None = None
    columns: Expression | None = None


@dataclass(frozen=True, slots=True)
class TensorFence:
    """`tcgen05.fence`. side: `before` or `after` the synchronization of threads that it belongs to."""

    side: str


@dataclass(frozen=True, slots=True)
class Home:
    """The CTA whose shared memory must contain the address of role `address`. where: `other` for another CTA than that
    of the executing thread, `same` for the CTA whose memory contains the address of role `companion`.
    """

    address: str
    where: str
    companion: str | None = None


@dataclass(frozen=True, slots=True)
class CtaGroup:
    """The number of CTAs of the operation: a single one (`ctas` 1) or a pair (2); a kernel has only one kind."""

    ctas: int


@dataclass(frozen=True, slots=True)
class Value:
    """Role `result` receives `value`; a `Call` of one of the value operations above."""

    result: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Control:
    """Control flow. kind: `branch`, `branch_indexed`, `call`, `return`, `exit`, `trap`. target: role or None."""

    kind: str
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Programmatic dependent launch. action: `launch_dependents`, `wait`."""

    action: str


@dataclass(frozen=True, slots=True)
class RegisterCount:
    """The warp has `count` registers in each thread from this instruction on. action: `increase`, `decrease`."""

    action: str
    count: Expression


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Cancels the launch of another cluster, whose work this one executes. action: `request`; `query` tests whether it
    was granted, `decode` returns which cluster it was; `granted` is the result, 0 if the request was refused.
    """

    action: str
    granted: Expression | None = None


MbarrierUse: TypeAlias = MbarrierArrive | MbarrierExpect | MbarrierComplete | MbarrierWait | MbarrierTrack
"""Effects on an mbarrier object that is initialized."""

MbarrierEffect: TypeAlias = MbarrierInit | MbarrierInvalidate | MbarrierUse

Effect: TypeAlias = (
    Access
    | Prefetch
    | CommitGroup
    | WaitGroup
    | ProxyFence
    | MemoryFence
    | Barrier
    | MbarrierEffect
    | AsyncRegisters
    | RegisterFence
    | TensorMemory
    | TensorFence
    | CtaGroup
    | Home
    | Value
    | Control
    | Grid
    | RegisterCount
    | Cancellation
)
