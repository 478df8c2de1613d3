"""The builder: writes PTX kernels in Python from typed values, and produces the parser's syntax tree.

    from ptxkit.build import Global, Kernel, f32, u32

Layer 1 has a method for every instruction of the table (`k.cp_async_cg(dst, src, 16)`). Layer 2 has typed addresses,
shared memory, mbarriers and structured control flow. See `Kernel`.
"""

from ptxkit.build.addresses import (
    Address,
    Const,
    Generic,
    Global,
    Local,
    Param,
    Shared,
    SharedCluster,
)
from ptxkit.build.argument_checks import add_argument_checks
from ptxkit.build.async_memcpy import Copy
from ptxkit.build.build_warnings import NeverWaitedWarning, UnusedWarning
from ptxkit.build.calls import External
from ptxkit.build.errors import (
    BuildAttributeError,
    BuildError,
    BuildTypeError,
    BuildValueError,
    EmulationError,
    UnfinishedError,
)
from ptxkit.build.functions import Function
from ptxkit.build.kernel import Kernel
from ptxkit.build.mbarrier import Barrier, RemoteBarrier
from ptxkit.build.mma import Fragment, Tile
from ptxkit.build.pipeline import Consumer, Pipeline, Producer, Stage, ThreadPipeline
from ptxkit.build.recorder import Label
from ptxkit.build.registers import Register, Variable
from ptxkit.build.shared_matrix import Rows
from ptxkit.build.stage_ring import Ring
from ptxkit.build.tcgen05 import Tensor, TensorMemory, instruction_descriptor
from ptxkit.build.tensormap import TensorMap
from ptxkit.build.thread_groups import Group
from ptxkit.build.wgmma import Accumulator, Matrix
from ptxkit.kernel_model.routines import Parameter
from ptxkit.kernel_model.scalar_types import (
    Scalar,
    b8,
    b16,
    b32,
    b64,
    b128,
    bf16,
    bf16x2,
    e4m3,
    e4m3x2,
    e5m2,
    e5m2x2,
    f16,
    f16x2,
    f32,
    f32x2,
    f64,
    pred,
    s8,
    s16,
    s32,
    s64,
    u8,
    u16,
    u32,
    u64,
)
from ptxkit.kernel_model.source_lines import Assembled, Location
from ptxkit.kernel_model.tensor_form import TensorForm
from ptxkit.kernel_model.verification import (
    Blame,
    BuildWarning,
    FindingWarning,
    VerificationError,
    verify_assembled,
)

__all__ = [
    "Accumulator",
    "Matrix",
    "BuildWarning",
    "NeverWaitedWarning",
    "UnusedWarning",
    "Tensor",
    "TensorMap",
    "TensorMemory",
    "TensorForm",
    "Ring",
    "ThreadPipeline",
    "Stage",
    "Producer",
    "Pipeline",
    "Consumer",
    "Copy",
    "Address",
    "Assembled",
    "Barrier",
    "Blame",
    "BuildAttributeError",
    "BuildError",
    "BuildTypeError",
    "BuildValueError",
    "Const",
    "EmulationError",
    "External",
    "FindingWarning",
    "Fragment",
    "Function",
    "Generic",
    "Global",
    "Group",
    "Kernel",
    "Label",
    "Local",
    "Location",
    "Param",
    "Parameter",
    "Register",
    "RemoteBarrier",
    "Rows",
    "Scalar",
    "Shared",
    "SharedCluster",
    "Tile",
    "UnfinishedError",
    "Variable",
    "VerificationError",
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "bf16",
    "bf16x2",
    "e4m3",
    "e4m3x2",
    "e5m2",
    "e5m2x2",
    "f16",
    "f16x2",
    "f32",
    "f32x2",
    "f64",
    "instruction_descriptor",
    "pred",
    "s8",
    "s16",
    "s32",
    "s64",
    "u8",
    "u16",
    "u32",
    "u64",
    "verify_assembled",
]

add_argument_checks(
    each for each in map(globals().get, __all__) if isinstance(each, type) and not issubclass(each, Exception)
)
