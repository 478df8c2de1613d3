"""The conditions that a kernel imposes on its launches, in words."""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.diagnostics.message import TextTemplate

WHERE_EXECUTED = TextTemplate("Where this line is executed, {condition}.")
IN_SOME_LAUNCHES = TextTemplate("In some launches, {condition}.")
DEMANDED: Mapping[str, str] = {
    "has": "must have",
    "lacks": "must not have",
    "is_": "must be",
    "provides": "must provide",
    "begins": "must begin",
}
"""The verbs of what a launch must satisfy."""
STATED: Mapping[str, str] = {
    "has": "has",
    "lacks": "does not have",
    "is_": "is",
    "provides": "provides",
    "begins": "begins",
}
"""The verbs of what a launch satisfies."""
BLOCK_EXACTLY = TextTemplate("the block {has} exactly {threads:1 thread}")
BLOCK_AT_MOST = TextTemplate("the block {has} at most {threads:1 thread}")
BLOCK_NOT = TextTemplate(
    "the block {lacks} {failing:1 thread}, with which {code} occurs; no error occurs with {possible}, "
    "and no other number was tried"
)
BLOCK_NONE_OF = TextTemplate(
    "the block {lacks} {failing:1 thread}, with which {code} occurs; no other number was tried"
)
BLOCK_ONE_OF = TextTemplate("the block {has} {possible:1 thread}{wrong}")
WRONG_WITH = TextTemplate(" (not {failing}, with which {code} occurs)")
CLUSTER_EXACTLY = TextTemplate("the cluster {has} exactly {ctas:1 CTA}")
CLUSTER_AT_MOST = TextTemplate("the cluster {has} at most {ctas:1 CTA}")
CLUSTER_AT_LEAST = TextTemplate("the cluster {has} at least {ctas:1 CTA}")
CLUSTER_ONE_OF = TextTemplate("the cluster {has} {ctas:1 CTA}{wrong}")
SHARED_AT_LEAST = TextTemplate("the launch {provides} at least {bytes:1 byte} of dynamic shared memory")
SHARED_ALIGNED = TextTemplate("dynamic shared memory {begins} at a multiple of {bytes:1 byte}")
PARAMETER = TextTemplate("{part}parameter {index}, `{name}`,")
PART_OF_PARAMETER = TextTemplate("byte {offset} of ")
MULTIPLE = TextTemplate("{parameter} {is_} a multiple of {divisor}{unit}")
MULTIPLE_AND_MORE = TextTemplate("{parameter} {is_} {remainder} more than a multiple of {divisor}{unit}")
BYTES = TextTemplate(" bytes")
TENSOR_MAP = TextTemplate("{parameter} {is_} a {rank}-dimensional tensor map in {mode} mode, for {purposes}{box}")
TENSOR_MAP_ADDRESS = TextTemplate(
    "{parameter} {is_} the address of a {rank}-dimensional tensor map in {mode} mode, for {purposes}{box}"
)
BOX_OF = TextTemplate(", with boxes of {bytes:1 byte}")
BOX_SIZE = TextTemplate("the size of {boxes} {is_} {bytes:1 byte}")
TOTAL_SIZE = TextTemplate("the total size of {boxes} {is_} {bytes:1 byte}")
BOX = TextTemplate("a box of {parameter}")
BOXES = TextTemplate("{count} boxes of {parameter}")
LOADS = TextTemplate("loads")
STORES = TextTemplate("stores")
REDUCTIONS = TextTemplate("reductions")
RESIDENT = TextTemplate("the CTAs for which this line waits must be resident at the same time as the waiting one")
OR = TextTemplate("{first} or {last}")
AND = TextTemplate("{first} and {last}")
SPACE = TextTemplate("{parameter} {is_} an address in the state space `.{space}`")
NOT_SATISFIED = TextTemplate("kernel `{kernel}`: the launch does not satisfy a condition of line {line}: {condition}")
SUFFICES = TextTemplate("It suffices for {codes} that {clause}.")
HOLDS_IF = TextTemplate("holds if {clause}")
CLEAN_IF = TextTemplate("kernel {kernel}: clean if {clause}")
OTHERWISE_CLEAN_IF = TextTemplate("kernel {kernel}: apart from the findings and undecided questions, clean if {clause}")
NO_CONDITIONS = TextTemplate("no conditions")
