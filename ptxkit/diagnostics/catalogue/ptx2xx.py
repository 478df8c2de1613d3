"""PTX2xx: addresses, state spaces and values."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate

GENERIC_ADDRESS_IN_SPACE = DiagnosticCode("PTX201", "generic-address-in-space", sections=("Generic Addressing", "cvta"))
_text = partial(MessageTemplate, GENERIC_ADDRESS_IN_SPACE)
GENERIC_ADDRESS_USED = _text(
    "0x{address:x} is a generic address, not an address in {space} memory: see `cvta.to.{space}`"
)
GENERIC_ADDRESS_IN_OPERAND = _text("uses a generic address where an address in .{space} is needed")
USE_ADDRESS_OF_SPACE = _text(
    "use the address from before its `cvta`, convert it back with `cvta.to.{space}`, or drop the state "
    "space from the instruction"
)
WRONG_KIND_ON_SOME_PATH = _text(
    "the address is of the wrong kind on a path that depends on data, and may be of the right kind on others"
)
INVALID_IN_SOME_EXECUTION = _text(
    "an operand is invalid in an execution that data, arguments or the caller of a function decide"
)

SPACE_OFFSET_AS_GENERIC = DiagnosticCode("PTX202", "space-offset-as-generic", sections=("Generic Addressing", "cvta"))
_text = partial(MessageTemplate, SPACE_OFFSET_AS_GENERIC)
GENERIC_ADDRESS_MAY_BE_OFFSET = _text(
    "0x{address:x} is not in any memory: it may be an offset in shared memory, which `cvta.shared` "
    "converts into a generic address"
)
OFFSET_IN_GENERIC_OPERAND = _text("uses an offset in .{origin} as a generic address")
NAME_SPACE_OR_CONVERT = _text("name the state space in the instruction, or convert the address with `cvta.{origin}`")

SYMBOL_IN_WRONG_SPACE = DiagnosticCode("PTX203", "symbol-in-wrong-space")
_text = partial(MessageTemplate, SYMBOL_IN_WRONG_SPACE)
SYMBOL_OF_WRONG_SPACE = _text("operand {operand} of `{opcode}` {reason}{symbol}")
SYMBOL_TOLERATED = _text("operand {operand} of `{opcode}` {reason}{tolerance}")

MISALIGNED_OFFSET = DiagnosticCode("PTX204", "misaligned-offset", Severity.WARNING)
_text = partial(MessageTemplate, MISALIGNED_OFFSET)
OFFSET_NOT_ALIGNED = _text(
    "operand {operand} of `{opcode}` is {offset} bytes from `{name}`, which begins at a multiple of "
    "{known}: no address that is aligned to {needed} bytes"
)

MISALIGNED_ADDRESS = DiagnosticCode(
    "PTX205",
    "misaligned-address",
    sections=("Addresses as Operands", "Alignment", "Size and alignment of mbarrier object"),
)
_text = partial(MessageTemplate, MISALIGNED_ADDRESS)
ADDRESS_NOT_ALIGNED = _text(
    "the address 0x{address:x} of an access of {size} bytes is misaligned: it must be a multiple of {size}"
)
TILE_NOT_ALIGNED = _text(
    "the address 0x{address:x} of a tensor tile is misaligned: it must be a multiple of {multiple}"
)
UNNAMED_VARIABLE = _text("the .{space} variable")
MISALIGNED_IN_NEXT_CTA = _text(
    "the number of the CTA decides whether the address is aligned: it is not in both of the first two"
)
DATA_DECIDE_ALIGNMENT = _text("whether the address is aligned: loaded data decide it")
NEEDS_ALIGNMENT = _text("needs an address that is a multiple of {required}")
DECLARATION_PROMISES_LESS = _text(
    "{needs}, but the declaration of {variable} guarantees only a multiple of {alignment}"
)
DECLARE_ALIGNMENT = _text("declare {variable} with `.align {required}`")
THIS_THREAD = _text("this one")
OTHER_THREAD = _text("that of thread {thread}")
ADDRESS_OFF_ALIGNMENT = _text("{needs}, but {whose} is {rest} bytes past a multiple of {step}")
MOVE_TO_MULTIPLE = _text("move it to a multiple of {required} in {variable}, or use an access with a smaller alignment")
ADDRESSES_OFF_EACH_OTHER = _text(
    "needs an address that is a multiple of {required}, as line {1} does; but their distance is "
    "{distance} bytes off a multiple, so one of them is misaligned"
)
ADDRESS_BY_SAME_POINTER = _text("an address derived from the same pointer")
ALIGN_DISTANCE = _text("make the distance of the two addresses a multiple of what both need")

NUMBER_OUT_OF_RANGE = DiagnosticCode(
    "PTX206", "number-out-of-range", sections=("cp.async.bulk", "cp.async", "Contents of the mbarrier object")
)
_text = partial(MessageTemplate, NUMBER_OUT_OF_RANGE)
NO_SUCH_BARRIER = _text("there is no barrier {number}: they are 0 to {last}")
INVALID_BARRIER_THREAD_COUNT = _text(
    "{threads} is not a valid number of threads for a barrier: it must be a multiple of {multiple}"
)
COPY_READS_TOO_MUCH = _text("the copy of {size} bytes cannot read {read} bytes")
INVALID_COPY_SIZE = _text("a copy of {size} bytes: it must be a multiple of {multiple}")
INVALID_ARRIVAL_COUNT = _text("a phase cannot expect {count} arrivals: the count is 1 to {limit}")
INVALID_SPARSITY_DESCRIPTOR = _text("the descriptor 0x{descriptor:08x} does not name a type of {bits} bits")
SURFACE_OF_OTHER_GEOMETRY = _text("`.{geometry}` does not access a surface that has {shape}")
INVALID_MMA_DESCRIPTOR = _text("tcgen05.mma: {error}")
TEXTURE_OF_OTHER_GEOMETRY = _text("`.{geometry}` does not read a texture that has {shape}")
BRANCH_INDEX_TOO_LARGE = _text("the index {index} exceeds the list of {labels} labels")
MASK_BEYOND_CLUSTER = _text("the mask 0x{mask:x} names CTAs beyond the {size} of the cluster")
INVALID_TENSOR_MAP_FIELD = _text("{error}")
INVALID_MATRIX_DESCRIPTOR = _text("{error}")
NO_OBJECT_WITH_HANDLE = _text("no object has the handle 0x{handle:x}: pass a {kind} as an argument")
NOT_A_MULTIPLE = _text("{value} in `{role}` is not a multiple of {required}")
ROUND_TO_MULTIPLE = _text("round it to a multiple of {required}; copy the rest by other instructions")
BREAKS_OPERAND_RULE = _text("{value} in `{role}` violates the rule `{rule}`")
KEEP_OPERAND_RULE = _text("ensure that every value of the register follows the rule")
RANK_BEYOND_CLUSTER = _text("accesses the shared memory of CTA {value} in a cluster of {required}")
KEEP_RANK_BELOW_SIZE = _text("keep the rank that `mapa` is given below the size of the cluster")
MASK_NAMES_MISSING_CTAS = _text("the mask {value:#x} names CTAs that a cluster of {required} does not have")
KEEP_MASK_BELOW = _text("keep the mask below 1 << {required}")
BEYOND_OPERAND_LIMIT = _text("{value} is {beyond} {required}, the limit of `{role}`")
KEEP_WITHIN_LIMIT = _text("keep within the limit, or split the work over several phases")

OUT_OF_BOUNDS = DiagnosticCode(
    "PTX207", "out-of-bounds", sections=("Variable Declarations", "Array Declarations", "Addresses as Operands")
)
_text = partial(MessageTemplate, OUT_OF_BOUNDS)
COPY_BEYOND_ALLOCATION = _text("{size} bytes at 0x{address:x} exceed {name}, which has {available}")
OUTSIDE_SURFACE = _text("coordinates are outside a surface of {extents} elements")
NO_FUNCTION_AT_ADDRESS = _text("there is no function at 0x{address:x}")
OUTSIDE_LAUNCH_MEMORY = _text(
    "{size} bytes at 0x{address:x} are outside all allocations of the launch in {space} memory{nearest}"
)
NEAREST_ALLOCATION = _text(
    "; {name}, the allocation before it, has {size} bytes, and this is byte {distance} from its start"
)
OUTSIDE_LOCAL_MEMORY = _text("{size} bytes at 0x{address:x} are outside the thread's local memory of {available} bytes")
NO_MEMORY_AT_ADDRESS = _text("0x{address:x} is not in any memory")
OUTSIDE_SHARED_MEMORY = _text(
    "{size} bytes at 0x{address:x} are outside the CTA's shared memory, which is 0x{start:x} to 0x{end:x}{cluster}"
)
CLUSTER_ADDRESSES = _text(" (of {ctas} CTAs, the rank in the bits from {bit} on)")
VARIABLE_OF_SPACE = _text("a .{space} variable")
BEGINS_BEFORE = _text("begins {distance} before {variable}")
PAST_END_BY = _text("{distance} after the end of")
AT_END = _text("at the end of")
BEGINS_PAST_END = _text("begins {place} {variable}, which has {size}")
RUNS_PAST_END = _text("runs {distance} past the end of {variable}, which has {size}")
ACCESS_OUTSIDE_VARIABLE = _text("uses {size} from byte {start} on: {reason}")
DATA_MAY_LEAVE_VARIABLE = _text("whether the access is inside the variable: loaded data decide the offset")
LAST_THREADS_MAY_NOT_EXIST = _text("block size unknown; whether a thread leaves the variable depends on it")
KEEP_WITHIN_VARIABLE = _text("keep the {size} within {variable}, or declare it larger")

ADDRESS_OF_ANOTHER_SPACE = DiagnosticCode(
    "PTX208", "address-of-another-space", sections=("State Spaces", "Generic Addressing", "Shared State Space")
)
_text = partial(MessageTemplate, ADDRESS_OF_ANOTHER_SPACE)
TENSOR_MAP_IN_WRONG_SPACE = _text(
    "the tensor map is in {space} memory: a copy takes one in global, constant or parameter memory"
)
ADDRESS_IN_OTHER_SPACE = _text("0x{address:x} is in {actual} memory, not in {space} memory")
REMOTE_SHARED_ADDRESS = _text(
    "uses an address in another CTA's shared memory where an address in its own CTA is required: "
    "`.shared` without a qualifier is `.shared::cta`"
)
NAME_SHARED_CLUSTER = _text(
    "name `.shared::cluster` in the instruction where it has that form, or use the address before `mapa`"
)
ADDRESS_OF_OTHER_SPACE = _text("uses an address in .{origin} where one in .{space} is needed")
NAME_SPACE_OF_ADDRESS = _text("name .{origin} in the instruction, or pass an address in .{space}")

GENERIC_WINDOW_MISMATCH = DiagnosticCode(
    "PTX209", "generic-window-mismatch", sections=("Generic Addressing", "cvta", "isspacep")
)
_text = partial(MessageTemplate, GENERIC_WINDOW_MISMATCH)
MBARRIER_OUTSIDE_SHARED = _text("an mbarrier object must be in shared memory, but 0x{address:x} is in {space} memory")
CONVERSION_OUTSIDE_WINDOW = _text(
    "uses the result of `{conversion}` at line {1} for an address that is {space}: the result is undefined"
)
ADDRESS_SPACE_LABEL = _text("the address is {space}")
CONVERT_ONLY_IN_SPACE = _text(
    "convert only generic addresses in that state space; test addresses that may be in another one "
    "with `isspacep` first"
)
CONVERT_FROM_NAMED_SPACE = _text(
    "convert an address in the state space that the conversion names; a generic address needs no conversion"
)
GENERIC_ADDRESS_OUTSIDE_WINDOW = _text("takes a generic address in {expected}, but this one is {actual}")
PASS_ADDRESS_IN_WINDOW = _text("pass an address in {expected}, or use an instruction that works {actual}")

WRONG_CTA_ADDRESS = DiagnosticCode(
    "PTX210", "wrong-cta-address", sections=("cp.async.bulk", "cp.async.bulk.tensor", "st.async", "red.async")
)
_text = partial(MessageTemplate, WRONG_CTA_ADDRESS)
NO_CTA_PAIR = _text("the CTA has no peer in its cluster to form a pair with")
DATA_FOR_OTHER_CTA = _text("the data is for CTA {rank} of the cluster, but its mbarrier is in CTA {home}")
DESTINATION_IN_OWN_CTA = _text("the destination must be the shared memory of another CTA of the cluster")
ADDRESS_IN_OWN_CTA = _text(
    "needs an address in another CTA's shared memory, but this one is in the shared memory of its own CTA"
)
MAP_ADDRESS_TO_OTHER_CTA = _text(
    "map the address to another CTA with `mapa`; within one CTA, use an instruction for `.shared::cta`"
)
MBARRIER_IN_OTHER_CTA = _text(
    "the mbarrier is in the shared memory of another CTA than the destination: both must be in the same CTA"
)
MAP_BOTH_TO_ONE_CTA = _text("map the addresses of the destination and of the mbarrier to the same CTA with `mapa`")

MULTIMEM_ADDRESS = DiagnosticCode(
    "PTX211", "multimem-address", sections=("Multimem Addresses", "multimem.ld_reduce, multimem.st, multimem.red")
)
_text = partial(MessageTemplate, MULTIMEM_ADDRESS)
MULTIMEM_ADDRESS_ACCESSED = _text("accesses a multimem address, which only `multimem` instructions may access")
MULTIMEM_ACCESS_LABEL = _text("`multimem` access to the same bytes, by the same pointer")
USE_UNICAST_ADDRESS = _text("use the ordinary address of the location on this device, or a `multimem` instruction")
