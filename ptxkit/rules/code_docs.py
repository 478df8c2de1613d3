"""The pages of the codes that no analysis rule reports: what each finds, why, an example and its correction.

The examples are PTX: statements of a kernel, items of a module, or a whole module, which `example_context` selects. A
test verifies that the example has a finding of the code, and that the correction has no finding.
"""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx1xx, ptx2xx, ptx3xx, ptx4xx, ptx6xx, ptx8xx
from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocPage:
    """One page.

    behavior, rationale: paragraphs. sections: titles of sections of the PTX manual. example_context: what the examples
    are: `body`, `module` or `file`; empty if there is no PTX to show.
    """

    code: DiagnosticCode
    headline: str
    behavior: str
    rationale: str
    sections: str
    example_context: str = ""
    example: str = ""
    replacement: str = ""

    def parts(self) -> list[tuple[str, str]]:
        """Returns the parts of the page in order, as (title, text)."""
        parts = [("What it does", self.behavior), ("Why it matters", self.rationale)]
        parts += [("Example", self.example), ("Use instead", self.replacement), ("ISA section", self.sections)]
        return [(title, text.strip()) for title, text in parts if text]


PAGES: tuple[DocPage, ...] = (
    DocPage(
        ptx1xx.NO_VERDICT,
        "the file has no verdict.",
        """Reports a file that could not be opened, is not UTF-8 text, or crashed the analysis.""",
        """The file is neither correct nor incorrect: it was not checked. The exit status is 2, and
reports count the file as failed.""",
        '"Source Format"',
        replacement="""Correct what the message names. If the analysis crashed, that is a bug of ptxkit: report
it with the file.""",
    ),
    DocPage(
        ptx1xx.SYNTAX_ERROR,
        "the text does not follow the PTX grammar.",
        """Finds text that the grammar does not allow, and names what is expected there. The parser
continues at the next statement, and reports at most 50 errors.""",
        """An assembler rejects the module at the first syntax error.""",
        '"Syntax", "Statements", "Constant Expressions"',
        "body",
        "add.s32 %r1, %r2 %r3;",
        "add.s32 %r1, %r2, %r3;",
    ),
    DocPage(
        ptx1xx.UNKNOWN_OPCODE,
        "no instruction has this name.",
        """Finds opcodes that are not in the instruction table; each opcode is reported once. The
finding is a note if the PTX version of the module is newer than the table, because the opcode
may be new.""",
        """An assembler rejects the instruction. If a newer assembler accepts it, ptxkit does not
check it.""",
        '"Instruction Set"',
        "body",
        "addd.s32 %r1, %r2, %r3;",
        "add.s32 %r1, %r2, %r3;",
    ),
    DocPage(
        ptx1xx.WRONG_MODIFIERS,
        "no form of the instruction has these modifiers.",
        """Finds modifiers that are missing, are not allowed, or cannot be combined with another one.
The finding is a warning if assemblers accept the instruction nevertheless; the message gives
the reason.""",
        """The modifiers determine the types, the rounding and the memory ordering of an instruction.
`ptxkit isa OPCODE` shows its forms.""",
        '"Instruction Set": the section of the instruction',
        "body",
        "cvt.f32.s32 %f1, %r1;",
        "cvt.rn.f32.s32 %f1, %r1;",
    ),
    DocPage(
        ptx1xx.WRONG_OPERANDS,
        "an operand does not match the instruction.",
        """Finds too few or too many operands, operands of a wrong kind, and registers of a type that
the instruction does not accept. Only loads, stores and conversions accept registers that are
wider than the type. The finding is a warning if assemblers accept the operand nevertheless.""",
        """An assembler rejects the instruction, or reads other bits than intended.""",
        '"Instruction Operands", "Operand Size Exceeding Instruction-Type Size"',
        "body",
        "add.f32 %f1, %f2, %rd1;",
        "add.f32 %f1, %f2, %f3;",
    ),
    DocPage(
        ptx1xx.CONSTANT_OUT_OF_RANGE,
        "the instruction does not accept this constant.",
        """Finds constants that are outside the range of the operand, are not a multiple of its step,
or conflict with another operand or a modifier. The message names the accepted values.""",
        """An assembler rejects the constant, or truncates it to the width of the operand and uses
another value.""",
        '"Constants", and the section of the instruction',
        "body",
        "cp.async.cg.shared.global [tile], [%rd1], 8;",
        "cp.async.cg.shared.global [tile], [%rd1], 16;",
    ),
    DocPage(
        ptx1xx.UNDECLARED_NAME,
        "the name is not declared.",
        """Finds uses of registers, variables, functions and labels without an earlier declaration in
the same or an enclosing block. A label may be declared after its use. The message proposes
the most similar declared name.""",
        """An assembler rejects the name. `%r<4>` declares `%r0` to `%r3`: the number is a count.""",
        '"Identifiers", "Parameterized Variable Names"',
        "body",
        "mov.u32 %r9, %r1;",
        "mov.u32 %r8, %r1;",
    ),
    DocPage(
        ptx1xx.MISPLACED_DIRECTIVE,
        "a directive is misplaced or malformed.",
        """Finds directives in the wrong place or order, repeated directives, combinations that exclude
each other, missing required directives, and wrong arguments. Warnings and notes report
directives that assemblers accept and ignore.""",
        """An assembler rejects the directive, or ignores it silently; then the requested limit does
not apply.""",
        '"Directives"',
        "module",
        ".entry other() .maxntid 128 .reqntid 128 { ret; }",
        ".entry other() .reqntid 128 { ret; }",
    ),
    DocPage(
        ptx1xx.WRONG_DECLARATION,
        "the declaration of a variable, register or parameter is invalid.",
        """Finds declarations whose type, state space, alignment, length or vector size cannot be
combined, or is not allowed in their place.""",
        """An assembler rejects the declaration.""",
        '"State Spaces", "Types", "Variables"',
        "module",
        ".global .v4 .b64 table;",
        ".global .v2 .b64 table;",
    ),
    DocPage(
        ptx1xx.WRONG_INITIAL_VALUE,
        "the initial value of a variable is invalid.",
        """Finds initial values whose type differs from that of the variable, that exceed its
dimensions or its length, or that are not constants, and addresses of names that have no
constant address.""",
        """An assembler rejects the value, or truncates it to the width of the variable.""",
        '"Initializers"',
        "module",
        ".global .b32 table[2] = {1, 2, 3};",
        ".global .b32 table[3] = {1, 2, 3};",
    ),
    DocPage(
        ptx1xx.DECLARED_TWICE,
        "a name is declared twice.",
        """Finds names that are declared twice in one block, and repeated declarations of a variable or
function that differ from the first one.""",
        """An assembler rejects the second declaration. A nested block may declare a name of an
enclosing block again: it hides the outer name until the block ends.""",
        '"Identifiers", "Linking Directives"',
        "body",
        ".reg .b32 %x; .reg .f32 %x;",
        ".reg .b32 %x; { .reg .f32 %x; }",
    ),
    DocPage(
        ptx1xx.WRONG_CALL,
        "a call does not match the function.",
        """Finds calls whose arguments or results differ from the function, the prototype or the list of
call targets in number, size, alignment or kind, and calls of names that are not functions.""",
        """The caller and the callee must use the same parameter layout. An assembler rejects a call
only if it sees the mismatch.""",
        '"Control Flow Instructions: call", "Function Declarations and Definitions"',
        "body",
        "call (%r1), helper, (%rd1);",
        "call (%r1), helper, (%r2);",
    ),
    DocPage(
        ptx1xx.UNUSED_SUPPRESSION,
        "a suppression comment has no effect.",
        """Finds codes in `// ptxkit: ignore[...]` for which the line, function or file of the comment has
no finding. Codes that are not selected are not reported.""",
        """The comment no longer suppresses a known finding, but would suppress a new one in the same
place.""",
        '"Comments"',
        replacement="""Remove the code or the comment; `ptxkit lint --fix` removes it.""",
    ),
    DocPage(
        ptx1xx.MALFORMED_SUPPRESSION,
        "a suppression comment is malformed.",
        """Finds comments that begin with `ptxkit:` but have no code, an unknown code, or another
directive than `ignore` and `ignore-file`.""",
        """The comment suppresses nothing, although its author expects it to.""",
        '"Comments"',
        replacement=f"Write `// ptxkit: ignore[{ptx4xx.MISSING_PROXY_FENCE}] why` at the end of the line, above it, "
        f"or above a\nfunction, or `// ptxkit: ignore-file[{ptx4xx.MISSING_PROXY_FENCE}] why` for the whole file.",
    ),
    DocPage(
        ptx2xx.SYMBOL_IN_WRONG_SPACE,
        "a variable is not in the state space of the instruction.",
        """Finds variables, parameters and functions in operands that do not accept their state space or
their kind. This includes stores to parameters of a kernel, and the address of a `.param`
variable that is declared in a function body, which has no address.""",
        "The name of a variable is its address in its own state space. In another "
        "state space, the\nsame number is another address. "
        f"{ptx2xx.GENERIC_ADDRESS_IN_SPACE} and {ptx2xx.SPACE_OFFSET_AS_GENERIC} report the "
        "same error for\naddresses in registers.",
        '"State Spaces", "Addresses as Operands", "Generic Addressing"',
        "body",
        "ld.global.b32 %r1, [tile];",
        "ld.shared.b32 %r1, [tile];",
    ),
    DocPage(
        ptx2xx.MISALIGNED_OFFSET,
        "the address of an access is always misaligned.",
        """Finds accesses at a constant offset from a variable that are misaligned wherever the variable
is placed. The finding is a warning, because assemblers accept the access.""",
        """A misaligned access faults, or has an undefined result.""",
        '"Addresses as Operands", "Alignment"',
        "module",
        ".entry other() { .reg .b64 %rd; ld.shared.b64 %rd, [tile+12]; ret; }",
        ".entry other() { .reg .b64 %rd; ld.shared.b64 %rd, [tile+8]; ret; }",
    ),
    DocPage(
        ptx3xx.NOT_REACHED,
        "the analysis did not reach an asynchronous instruction.",
        """Lists asynchronous instructions that the analysis did not reach, because no kernel of the file
calls their function or because a limit of the analysis was exceeded, and calls of functions
that the file does not define. This code is never a finding; `ptxkit lint --format json` lists
these places as undecided. Findings of other rules that assume that such a call has no effect
are undecided under their codes. The analysis knows `vprintf`, `malloc`, `free`, `__assertfail`
and the device runtime: they order nothing, and `__assertfail` ends the launch like `trap`.""",
        """An instruction that was not analyzed has no finding, but is not proved correct.""",
        '"Control Flow Instructions"',
        replacement="""Call the function from a kernel of the same file, add the called functions to the file, or
remove unreachable code.""",
    ),
    DocPage(
        ptx6xx.KERNEL_ABORTED,
        "a run on the reference machine ended with a trap, an assertion or a stack overflow.",
        """`ptxkit verify` and `ptxkit run` report it if a kernel executes `trap` or `brkpt`, if an
assertion fails, or if its calls need more local memory than a thread has.""",
        """The launch fails. If ptxkit chose the arguments, the kernel may reject them deliberately.""",
        '"Miscellaneous Instructions: trap", "Miscellaneous Instructions: brkpt"',
        replacement="""Check the arguments of the run, which the finding lists; pass the arguments of the host with
`--arg`.""",
    ),
    DocPage(
        ptx6xx.UNINITIALIZED_DATA,
        "the results of a kernel depend on uninitialized memory or registers.",
        """`ptxkit verify` reports it if two runs of a kernel under the same schedule have different
results, or one of them fails, because uninitialized registers, shared memory or local memory
held other bits. Uninitialized data that does not change the results is not reported. `ptxkit
run` and `emulate` of the builder report it for registers, at the instruction that reads a
register that its thread has not written. If `ptxkit verify` chose the arguments, the question
is undecided.""",
        """Uninitialized memory and registers hold undefined values, such as data of an earlier launch.""",
        '"State Spaces"',
        replacement="""Write the memory or the register before it is read, or do not use the value for a result.""",
    ),
    DocPage(
        ptx8xx.NEEDS_NEWER_VERSION,
        "the `.version` or `.target` of the module does not support a feature.",
        """Finds instructions, modifiers, types and directives that require a later version or target,
were removed, or exist only on one target family (such as `sm_90a`). The message names the
minimum that is required.""",
        """An assembler rejects the declaration.""",
        '"PTX Module Directives: .version", "PTX Module Directives: .target"',
        "file",
        """.version 8.0
.target sm_80
.address_size 64
.entry k() { barrier.cluster.arrive; ret; }""",
        """.version 8.0
.target sm_90
.address_size 64
.entry k() { barrier.cluster.arrive; ret; }""",
    ),
    DocPage(
        ptx8xx.CUDA_PTX_FOR_ANOTHER_TARGET,
        "a `cuda::ptx` function was compiled for a target that lacks its instruction.",
        """Finds calls of the placeholder functions that libcu++ emits for an instruction that the target
lacks. No library defines them. If a placeholder is declared and not called, the finding is a
warning.""",
        """The module can be assembled as a relocatable object, but cannot be linked into a program.""",
        '"PTX Module Directives: .target"',
        "module",
        """.func __cuda_ptx_mapa_is_not_supported_before_SM_90__();
.entry other() { call __cuda_ptx_mapa_is_not_supported_before_SM_90__, (); ret; }""",
        ".entry other() { .reg .b32 %r; mapa.shared::cluster.u32 %r, tile, 0; ret; }",
    ),
    DocPage(
        ptx8xx.UNKNOWN_VERSION,
        "the `.version` or `.target` does not exist.",
        """Finds versions and targets that do not exist, and those that are newer than this release of
ptxkit. The message proposes the most similar one.""",
        """An assembler rejects an unknown version or target. A newer ptxkit may support it.""",
        '"PTX Module Directives: .version", "PTX Module Directives: .target"',
        "file",
        """.version 8.9
.target sm_90a
.address_size 64
.global .b32 x;""",
        """.version 8.8
.target sm_90a
.address_size 64
.global .b32 x;""",
    ),
)
"""All pages, by code."""
