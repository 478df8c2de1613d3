"""What kernels and device functions have in common: all that may be written in either.

Source: PTX ISA, "Kernel and Function Directives".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin

from ptxkit.build.addresses import Address, Shared
from ptxkit.build.async_memcpy import Copy, memcpy_async
from ptxkit.build.barriers_and_fences import NAMED_BARRIERS
from ptxkit.build.build_warnings import warn_when_unused
from ptxkit.build.cp_async import CpAsyncBuilder
from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError, Location, find_caller
from ptxkit.build.mbarrier import Barrier
from ptxkit.build.memory_declarations import resolve_alignment
from ptxkit.build.mma import Fragment, Tile, load_fragment_a, load_fragment_b
from ptxkit.build.module_assembly import Assembled, assemble_module
from ptxkit.build.pipeline import Pipeline, ThreadPipeline
from ptxkit.build.registers import Register
from ptxkit.build.scalar_types import Scalar, ScalarT, f32, u32
from ptxkit.build.shared_matrix import Rows
from ptxkit.build.target_inference import parse_supported_target
from ptxkit.build.tcgen05 import TensorMemory, make_tensor_matrix
from ptxkit.build.thread_groups import Group
from ptxkit.build.warp_roles import WARP_SIZE
from ptxkit.build.wgmma import Accumulator, Matrix, make_matrix
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.functions import External, Function
    from ptxkit.diagnostics import Verdict

_AddressT = TypeVar("_AddressT", bound=Address[Any])
_ResultT = TypeVar("_ResultT")


class FunctionBuilder(CpAsyncBuilder):
    """A kernel or a function under construction. debug: `.loc` and `.file` tell the user's lines.

    callees: the functions that it calls, in the order in which it first does.
    """

    def __init__(self, name: str, *, target: str | None, debug: bool) -> None:
        super().__init__()
        self.name = name
        self.debug = debug
        self.threads: tuple[int, int, int] | None = None
        self.registers: int | None = None
        self.location: Location = find_caller()
        self.callees: dict[str, Function[Any] | External[Any]] = {}
        self.issued_warnings: set[tuple[str, Location]] = set()
        """Warnings that were given."""
        warn_when_unused(self)
        try:
            self.target = None if target is None else parse_supported_target(target)
        except ValueError as error:
            raise BuildValueError(str(error)) from None

    # ------------------------------------------------------------------------------------- its module

    def list_call_graph(self) -> list[FunctionBuilder]:
        """The functions that it calls, and those that they call, each before its first caller; this one last."""
        found: dict[int, FunctionBuilder] = {}
        begun: set[int] = set()

        def visit(routine: FunctionBuilder) -> None:
            begun.add(id(routine))
            for called in routine.callees.values():
                if isinstance(called, FunctionBuilder) and id(called) not in begun:
                    visit(called)
            found[id(routine)] = routine

        visit(self)
        return list(found.values())

    def list_shared_memory_users(self) -> list[FunctionBuilder]:
        """The functions that it calls share its memory."""
        return self.list_call_graph()

    def to_function(self, body: tree.Body) -> tree.Function:
        """The function that stands in the module."""
        raise NotImplementedError

    def check_complete(self) -> None:
        """BuildError where something is missing at its end."""

    # ------------------------------------------------------------------------------------------- calls

    def external(self, name: str, *, params: Iterable[Any] = (), results: Any = None) -> External[Any]:
        """One of another module: `norm = k.external("norm", params=(f32, f32), results=f32)`; `norm(k, x, y)`."""
        from ptxkit.build.functions import External

        return External(name, params=tuple(params), results=results)

    def register_callee(self, called: Function[Any] | External[Any]) -> None:
        """Notes a function that is called here. BuildError where its name means another one already."""
        known = self.callees.setdefault(called.name, called)
        if known is not called and not (known.prototype == called.prototype and known.prototype.linkage == "extern"):
            raise BuildError(f"{self!r} calls another function of the name {called.name!r} already")

    def append_block(self, statements: list[tree.Statement]) -> None:
        """Statements in a scope of their own, which are one to the user."""
        for each in statements:
            if isinstance(each, tree.Instruction):
                match = table().match(each)
                if not isinstance(match, Match):
                    raise BuildError(match.message)
                self.raw_gates += match.gates
        self._record(tree.Block(tree.Body(tuple(statements))), None)

    def pointer(self, form: type[_AddressT], register: Register[Any], align: int | None = None) -> _AddressT:
        """An address from a register that holds one: `k.pointer(Shared[f32], r, align=16)`."""
        space, element = get_origin(form), element_of(form)
        if space is None or not issubclass(space, Address):
            raise BuildTypeError(f"an address type is written like Global[f32], not {form!r}")
        if not isinstance(register, Register) or register.type.bits != space.pointer.bits:
            raise BuildTypeError(
                f"an address in .{space.space} is held by a .{space.pointer.word} register, not {register!r}"
            )
        return cast("_AddressT", space(self, element, register, resolve_alignment(align, element)))

    # ----------------------------------------------------------------------------------------- pipelines

    def pipeline(
        self, stages: int, *, producers: int | Group, consumers: int | Group, name: str | None = None
    ) -> Pipeline:
        """Stages that are handed over by mbarriers: see `ptxkit.build.pipeline`.

        producers: the threads that commit a stage, or how many. consumers: those that release it.
        """
        filling, working = (each.size if isinstance(each, Group) else each for each in (producers, consumers))
        return Pipeline(self, stages, filling, working, name)

    def thread_pipeline(self, stages: int) -> ThreadPipeline:
        """Stages of each thread's own `cp.async`."""
        return ThreadPipeline(self, stages)

    # ------------------------------------------------------------------------------------ groups, copies

    def this_thread(self) -> Group:
        """The executing thread alone."""
        return Group(self, 1, 0)

    def this_warp(self) -> Group:
        """The 32 threads of a warp."""
        return Group(self, 32, self.laneid)

    def this_cta(self) -> Group:
        """All threads of the CTA, whose shape the kernel must fix."""
        if self.threads is None:
            raise BuildError("the size of the group is the CTA's: Kernel(..., threads=...)")
        x, y, z = self.threads
        return Group(self, x * y * z, self.thread_rank, 0)

    def these_warps(self, warps: Iterable[int] | int, *, barrier: int | None = None) -> Group:
        """All threads of warps whose numbers follow one another, such as those of a role: `range(1, 5)`.

        barrier: the number of the named barrier at which they meet, 1 to 15; a single warp needs none.
        """
        numbers = self.check_consecutive_warps(warps)
        if len(numbers) == 1 and barrier is None:
            return self.this_warp()
        if isinstance(barrier, bool) or not isinstance(barrier, int) or not 1 <= barrier < NAMED_BARRIERS:
            raise BuildValueError(f"several warps meet at a named barrier, 1 to {NAMED_BARRIERS - 1}, not {barrier!r}")
        x, y, z = self.threads or (0, 0, 0)
        if numbers[-1] * WARP_SIZE + WARP_SIZE > x * y * z:
            raise BuildValueError(f"warp {numbers[-1]} of the CTA is no whole one, and a barrier counts whole warps")
        first = numbers[0] * WARP_SIZE
        return Group(self, len(numbers) * WARP_SIZE, self.thread_rank - first if first else self.thread_rank, barrier)

    def these_threads(self, size: int, rank: Register[u32]) -> Group:
        """Any `size` threads of the CTA, such as those of even numbers: `k.these_threads(64, k.tid.x // 2)`.

        rank: the executing thread's number among them. Their copies are waited for at an mbarrier.
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise BuildValueError(f"a group has a whole number of threads, at least 1, not {size!r}")
        if not isinstance(rank, Register) or rank.type is not u32:
            raise BuildTypeError(f"a thread's number in a group is a u32 register, not {rank!r}")
        return Group(self, size, rank, scattered=True)

    def memcpy_async(
        self,
        destination: Address[Any],
        source: Address[Any],
        size: int | Register[u32],
        *,
        group: Group,
        barrier: Barrier | None = None,
        multicast: int | None = None,
    ) -> Copy:
        """Starts a copy of `size` bytes, which all threads of the group call; see `ptxkit.build.async_memcpy`.

        The result tells by which mechanism, and why. barrier: an mbarrier whose current phase waits for the copy.
        multicast: the mask of those CTAs of the cluster that all call this with the same source, each with its own
        barrier, and shall all have it at the same place.
        """
        return memcpy_async(self, destination, source, size, group, barrier, multicast)

    # ---------------------------------------------------------------------------------------- matrices

    def matrix(
        self,
        place: Shared[Any],
        *,
        swizzle: int = 128,
        stride: int | None = None,
        leading: int = 16,
        transposed: bool = False,
    ) -> Matrix:
        """A matrix in shared memory for `wgmma`, as a tensor map with that swizzle writes it.

        stride: bytes from eight rows to the next eight; left out, those of rows as long as the swizzle. leading: bytes
        from one column of core matrices to the next, where the layout needs it. transposed: rows are along M or N.
        """
        return make_matrix(self, place, swizzle=swizzle, stride=stride, leading=leading, transposed=transposed)

    def rows(self, place: Shared[ScalarT], columns: int, *, swizzle: int = 0) -> Rows[ScalarT]:
        """A matrix in shared memory with `columns` elements from one row to the next, for `ldmatrix` and `stmatrix`.

        swizzle: the bytes that it spans, which are then those of a row: see `ptxkit.build.shared_matrix`.
        """
        return Rows(self, place, columns, swizzle)

    def tensor_memory(self, columns: int, *, warp: int = 0, ctas: int = 1) -> TensorMemory:
        """Allocates 32 to 512 columns of Tensor Memory, by one warp: see `ptxkit.build.tcgen05`. Needs sm_100a.

        All threads of the CTA come here, and again to `free()`. ctas: 2 where pairs of CTAs multiply together.
        """
        return TensorMemory(self, columns, warp=warp, ctas=ctas)

    def tensor_matrix(
        self,
        place: Shared[Any],
        *,
        swizzle: int = 128,
        stride: int | None = None,
        leading: int = 16,
        transposed: bool = False,
    ) -> Matrix:
        """A matrix in shared memory for `tcgen05.mma`; the arguments are those of `matrix`."""
        return make_tensor_matrix(self, place, swizzle=swizzle, stride=stride, leading=leading, transposed=transposed)

    def mma_tile(self, rows: int, columns: int, scalar: type[Scalar] = f32) -> Tile:
        """The registers of a warp's `rows` x `columns` results, zero to begin with: see `ptxkit.build.mma`."""
        return Tile(self, rows, columns, scalar)

    def mma_a(
        self,
        rows: Rows[Any],
        row: int | Register[u32],
        k: int | Register[u32],
        *,
        count: int = 16,
        transposed: bool = False,
    ) -> Fragment:
        """`count` rows of A from `row` on, and 32 bytes of K from element `k` on, by `ldmatrix`.

        transposed: the rows in memory are along M, and not along K.
        """
        return load_fragment_a(rows, row, k, count, transposed)

    def mma_b(
        self,
        rows: Rows[Any],
        column: int | Register[u32],
        k: int | Register[u32],
        *,
        count: int = 8,
        transposed: bool = False,
    ) -> Fragment:
        """`count` columns of B from `column` on, and 32 bytes of K from element `k` on, by `ldmatrix`.

        The rows in memory are along K, one for each column of B; transposed: they are along N.
        """
        return load_fragment_b(rows, column, k, count, transposed)

    def accumulator(self, columns: int, scalar: type[Scalar] = f32) -> Accumulator:
        """The registers of a warpgroup's 64 x `columns` results."""
        return Accumulator(self, columns, scalar)

    # ---------------------------------------------------------------------------------------- the result

    def assembled(self) -> Assembled:
        """The tree, and beside each statement the user's line."""
        self.usage.was_used = True
        return assemble_module(self)

    def module(self) -> tree.Module:
        """The tree of a module with this kernel, as the parser would make it. Not verified."""
        self.usage.was_used = True
        return assemble_module(self).module

    def verify(self) -> Verdict:
        """What the verifier says, when nothing is an error; `VerificationError` with the user's lines otherwise."""
        from ptxkit.build.verification import verify

        return verify(self)

    def __str__(self) -> str:
        return str(self.module())


def cta_shape(threads: int | Iterable[int] | None) -> tuple[int, int, int] | None:
    """The three extents of a CTA; BuildValueError where there are more than 1024 threads."""
    return shape_of(threads, 1024, "a CTA", "threads")


def shape_of(extents: int | Iterable[int] | None, most: int, what: str, parts: str) -> tuple[int, int, int] | None:
    """One to three extents, the others 1; None for none."""
    if extents is None:
        return None
    given = (extents,) if isinstance(extents, int) else tuple(extents)
    if not 1 <= len(given) <= 3 or any(not isinstance(extent, int) or extent < 1 for extent in given):
        raise BuildValueError(f"{what} has one to three extents of at least 1, not {extents!r}")
    x, y, z = (*given, 1, 1)[:3]
    if x * y * z > most:
        raise BuildValueError(f"{what} has at most {most} {parts}, not {x * y * z}")
    return x, y, z


def element_of(form: Any) -> type[Scalar]:
    """The elements that an address type names."""
    arguments = get_args(form)
    if len(arguments) != 1 or not isinstance(arguments[0], type) or not issubclass(arguments[0], Scalar):
        raise BuildTypeError(f"an address type names its elements, like Global[f32], not {form!r}")
    return arguments[0]
