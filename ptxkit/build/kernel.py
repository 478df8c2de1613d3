"""Layer 2: a kernel with typed parameters, typed shared memory and structured control flow.

    k = Kernel("scale", threads=128)
    data = k.param(Global[f32], "data")
    count = k.param(u32, "count")
    i = k.ctaid.x * 128 + k.tid.x
    with k.if_(i < count):
        data[i].store(data[i].load() * 2.0)
    print(k.module())

Pointer parameters. `k.param(Global[f32], "data")` declares `.param .u64 .ptr .global .align 4 data`. The attribute
states that the caller passes an address of global memory, which the host's allocations are, so the loaded value is a
`.global` address and no `cvta` is needed. An address whose space only the caller knows is `Generic[f32]`.

Source: PTX ISA, "Kernel Entry Point Directives: .entry", "Kernel Function Parameter Attribute: .ptr".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin, overload

from ptxkit.build.addresses import Address, Const, Generic, Global, Shared
from ptxkit.build.assemble import Assembled, assemble
from ptxkit.build.barrier import Barrier
from ptxkit.build.copies import Copy, memcpy_async
from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError, Location, caller
from ptxkit.build.gates import known_target
from ptxkit.build.groups import Group
from ptxkit.build.launching import Launching
from ptxkit.build.memory import alignment_of, check_element, checked_identifier
from ptxkit.build.pipeline import Pipeline, ThreadPipeline
from ptxkit.build.recorder import InPrologue
from ptxkit.build.special import CLUSTERS
from ptxkit.build.sync import Sync
from ptxkit.build.tensormap import ALIGNMENT, TensorForm, TensorMap, tensor_form
from ptxkit.build.types import Scalar, ScalarT, b8, f32, memory_word, pred, u32, u64
from ptxkit.build.values import Register
from ptxkit.build.wgmma import Accumulator, Matrix, matrix
from ptxkit.isa.forms import Gate
from ptxkit.records import dataclass
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.diagnostics import Verdict

_AddressT = TypeVar("_AddressT", bound=Address[Any])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter. space: what it points into, None for a value. alignment: of what it points to.

    tensor: what a tensor map, passed by value, must be like.
    """

    name: str
    type: type[Scalar]
    space: str | None = None
    alignment: int = 1
    tensor: TensorForm | None = None


class Kernel(Sync, Launching):
    """A kernel under construction.

    threads: the CTA's shape, which the launch must use (`.reqntid`); one number is the x extent.
    target: such as `sm_90a`; None chooses the lowest that serves. cluster: the shape of a cluster, in CTAs
    (`.reqnctapercluster`). registers: the most that each thread starts with (`.maxnreg`). debug: `.loc` and `.file`
    tell the user's lines.
    """

    def __init__(
        self,
        name: str,
        *,
        threads: int | Iterable[int] | None = None,
        target: str | None = None,
        cluster: int | Iterable[int] | None = None,
        registers: int | None = None,
        debug: bool = False,
    ) -> None:
        super().__init__()
        Launching.__init__(self)
        self.name = checked_identifier(name, "a kernel")
        self.threads = _shape(threads, 1024, "a CTA", "threads")
        self.cluster = _shape(cluster, 16, "a cluster", "CTAs")
        if registers is not None and not (isinstance(registers, int) and 1 <= registers <= 255):
            raise BuildValueError(f"a thread has 1 to 255 registers, not {registers!r}")
        self.registers = registers
        self.debug = debug
        self.parameters: list[Parameter] = []
        self.location: Location = caller()
        try:
            self.target = None if target is None else known_target(target)
        except ValueError as error:
            raise BuildValueError(str(error)) from None

    def __repr__(self) -> str:
        return f"Kernel({self.name!r})"

    # ---------------------------------------------------------------------------------------- parameters

    @overload
    def param(self, form: type[_AddressT], name: str, *, align: int | None = None) -> _AddressT: ...

    @overload
    def param(self, form: type[ScalarT], name: str) -> Register[ScalarT]: ...

    def param(self, form: Any, name: str, *, align: int | None = None) -> Any:
        """The next parameter: a value (`u32`) or an address (`Global[f32]`), aligned to `align` bytes."""
        self._declared(name, "a parameter")
        space = get_origin(form)
        if space is None:
            if not (isinstance(form, type) and issubclass(form, Scalar)) or form is pred:
                raise BuildTypeError(
                    f"a parameter is a type such as u32 or an address such as Global[f32], not {form!r}"
                )
            self.parameters.append(Parameter(name, form))
            return self._load_parameter(name, form)
        if space not in (Global, Const, Generic):
            raise BuildTypeError(f"a host passes addresses in .global, .const or generic ones, not {space.__name__}")
        element = _element(form)
        alignment = alignment_of(align, element)
        self.parameters.append(Parameter(name, element, space.space, alignment))
        return space(self, element, self._load_parameter(name, space.pointer), alignment)

    def tensor_map(
        self,
        name: str,
        element: type[Scalar],
        *,
        box: Sequence[int],
        rank: int | None = None,
        swizzle: int = 0,
        mode: str = "tiled",
    ) -> TensorMap:
        """The next parameter: a tensor map, by value.

        element: type of the tensor's elements. box: how many of them a copy takes in each dimension, innermost first;
        with mode `im2col`, channels and pixels, and `rank` is the tensor's. swizzle: the bytes that it spans in shared
        memory: 0, 32, 64 or 128.
        """
        self._declared(name, "a parameter")
        check_element(element)
        form = tensor_form(element, box, rank, swizzle, mode)
        self.parameters.append(Parameter(name, b8, alignment=ALIGNMENT, tensor=form))
        with InPrologue(self):
            place = self.register(u64)
            self._append("mov.u64", (tree.Name(place.name), tree.Name(name)))
            generic = cast("Register[u64]", self.instruction("cvta_param_u64", (place,)))
        return TensorMap(self, form, Generic(self, b8, generic, ALIGNMENT))

    def _load_parameter(self, name: str, scalar: type[Scalar]) -> Register[Any]:
        register = self.register(scalar)
        with InPrologue(self):
            self._append(f"ld.param.{memory_word(scalar)}", (tree.Name(register.name), tree.Address(tree.Name(name))))
        return register

    def pointer(self, form: type[_AddressT], register: Register[Any], align: int | None = None) -> _AddressT:
        """An address from a register that holds one: `k.pointer(Shared[f32], r, align=16)`."""
        space, element = get_origin(form), _element(form)
        if space is None or not issubclass(space, Address):
            raise BuildTypeError(f"an address type is written like Global[f32], not {form!r}")
        if not isinstance(register, Register) or register.type.bits != space.pointer.bits:
            raise BuildTypeError(
                f"an address in .{space.space} is held by a .{space.pointer.word} register, not {register!r}"
            )
        return cast("_AddressT", space(self, element, register, alignment_of(align, element)))

    # ----------------------------------------------------------------------------------------- pipelines

    def pipeline(self, stages: int, *, producers: int, consumers: int, name: str | None = None) -> Pipeline:
        """Stages that are handed over by mbarriers: see `ptxkit.build.pipeline`.

        producers: how many threads commit a stage. consumers: how many threads release it.
        """
        return Pipeline(self, stages, producers, consumers, name)

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

    def memcpy_async(
        self,
        destination: Address[Any],
        source: Address[Any],
        size: int | Register[u32],
        *,
        group: Group,
        barrier: Barrier | None = None,
    ) -> Copy:
        """Starts a copy of `size` bytes, which all threads of the group call; see `ptxkit.build.copies`.

        The result tells by which mechanism, and why. barrier: an mbarrier whose current phase waits for the copy.
        """
        return memcpy_async(self, destination, source, size, group, barrier)

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
        return matrix(self, place, swizzle=swizzle, stride=stride, leading=leading, transposed=transposed)

    def accumulator(self, columns: int, scalar: type[Scalar] = f32) -> Accumulator:
        """The registers of a warpgroup's 64 x `columns` results."""
        return Accumulator(self, columns, scalar)

    # ---------------------------------------------------------------------------------------- the result

    def assembled(self) -> Assembled:
        """The tree, and beside each statement the user's line."""
        return assemble(self)

    def module(self) -> tree.Module:
        """The tree of a module with this kernel, as the parser would make it. Not verified."""
        return self.assembled().module

    def verify(self) -> Verdict:
        """What the verifier says, when nothing is an error; `VerificationError` with the user's lines otherwise."""
        from ptxkit.build.verify import verify

        return verify(self)

    def __str__(self) -> str:
        return str(self.module())

    # ------------------------------------------------------------------------------------------ workings

    def special_gates(self) -> Iterator[Gate]:
        """What the kernel's registers and directives need, beside its instructions."""
        yield from super().special_gates()
        if self.cluster is not None:
            yield Gate(".reqnctapercluster", CLUSTERS)

    def taken_names(self) -> set[str]:
        """The names that stand in the module so far."""
        return super().taken_names() | {parameter.name for parameter in self.parameters} | {self.name}


def _element(form: Any) -> type[Scalar]:
    arguments = get_args(form)
    if len(arguments) != 1 or not isinstance(arguments[0], type) or not issubclass(arguments[0], Scalar):
        raise BuildTypeError(f"an address type names its elements, like Global[f32], not {form!r}")
    return arguments[0]


def _shape(extents: int | Iterable[int] | None, most: int, what: str, parts: str) -> tuple[int, int, int] | None:
    if extents is None:
        return None
    given = (extents,) if isinstance(extents, int) else tuple(extents)
    if not 1 <= len(given) <= 3 or any(not isinstance(extent, int) or extent < 1 for extent in given):
        raise BuildValueError(f"{what} has one to three extents of at least 1, not {extents!r}")
    x, y, z = (*given, 1, 1)[:3]
    if x * y * z > most:
        raise BuildValueError(f"{what} has at most {most} {parts}, not {x * y * z}")
    return x, y, z
