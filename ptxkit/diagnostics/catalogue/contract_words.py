"""The conditions that a kernel imposes on its launches, in words."""

from __future__ import annotations

from ptxkit.diagnostics.message import TextTemplate

WHERE_EXECUTED = TextTemplate("Where this line is executed, {condition}.")
IN_SOME_LAUNCHES = TextTemplate("In some launches, {condition}.")
BLOCK_EXACTLY = TextTemplate("the block must have exactly {threads:1 thread}")
BLOCK_AT_MOST = TextTemplate("the block must have at most {threads:1 thread}")
BLOCK_NOT = TextTemplate(
    "the block must not have {failing:1 thread}, with which {code} occurs; no error occurs with {possible}, "
    "and no other number was tried"
)
BLOCK_NONE_OF = TextTemplate(
    "the block must not have {failing:1 thread}, with which {code} occurs; no other number was tried"
)
CLUSTER_EXACTLY = TextTemplate("the cluster must have exactly {ctas:1 CTA}")
CLUSTER_AT_MOST = TextTemplate("the cluster must have at most {ctas:1 CTA}")
CLUSTER_AT_LEAST = TextTemplate("the cluster must have at least {ctas:1 CTA}")
SHARED_AT_LEAST = TextTemplate("the launch must provide at least {bytes:1 byte} of dynamic shared memory")
SHARED_ALIGNED = TextTemplate("dynamic shared memory must begin at a multiple of {bytes:1 byte}")
PARAMETER = TextTemplate("{part}parameter {index}, `{name}`,")
PART_OF_PARAMETER = TextTemplate("byte {offset} of ")
MULTIPLE = TextTemplate("{parameter} must be a multiple of {divisor}{unit}")
MULTIPLE_AND_MORE = TextTemplate("{parameter} must be {remainder} more than a multiple of {divisor}{unit}")
BYTES = TextTemplate(" bytes")
TENSOR_MAP = TextTemplate("{parameter} must be a {rank}-dimensional tensor map in {mode} mode, for {purposes}{box}")
TENSOR_MAP_ADDRESS = TextTemplate(
    "{parameter} must be the address of a {rank}-dimensional tensor map in {mode} mode, for {purposes}{box}"
)
BOX_OF = TextTemplate(", with boxes of {bytes:1 byte}")
LOADS = TextTemplate("loads")
STORES = TextTemplate("stores")
REDUCTIONS = TextTemplate("reductions")
BRIEF_MAP = TextTemplate("{parameter} is a {rank}-dimensional map ({mode}{box})")
BRIEF_BOX = TextTemplate(", boxes of {bytes:1 byte}")
RESIDENT = TextTemplate("the CTAs for which this line waits must be resident at the same time as the waiting one")
BRIEF_RESIDENT = TextTemplate("CTAs that wait for each other are resident together")
OR = TextTemplate("{first} or {last}")
AND = TextTemplate("{first} and {last}")
NO_CONDITIONS = TextTemplate("no conditions")
