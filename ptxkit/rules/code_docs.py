"""The pages of the codes that are no rules of the analysis: what each finds, why, an example and what to write instead.

The examples are PTX: statements of a kernel, items of a module, or a whole one, as `place` says. A test shows that the
first has a finding of that code, and the second none at all.
"""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx1xx, ptx2xx, ptx3xx, ptx4xx, ptx6xx, ptx8xx
from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocPage:
    """One page. does, matters: paragraphs. place: of the examples: `body`, `module`, `file`, or empty where there is
    no PTX to show. sections: titles of the manual's."""

    code: DiagnosticCode
    headline: str
    behaviour: str
    rationale: str
    sections: str
    example_context: str = ""
    example: str = ""
    replacement: str = ""

    def parts(self) -> list[tuple[str, str]]:
        """Titles and texts, in their order."""
        parts = [("What it does", self.behaviour), ("Why it matters", self.rationale)]
        parts += [("Example", self.example), ("Use instead", self.replacement), ("ISA section", self.sections)]
        return [(title, text.strip()) for title, text in parts if text]


PAGES: tuple[DocPage, ...] = (
    DocPage(
        ptx1xx.NO_VERDICT,
        "there is no verdict on the file.",
        """Says that a file could not be opened, is no text in UTF-8, or broke the analysis.""",
        """Nothing is known of the file: it is neither right nor wrong. The exit status is 2, and a
report has it among the files that failed.""",
        '"Source Format"',
        replacement="""Read what the message says of the file. If the analysis broke, that is a fault of
ptxkit: report it with the file.""",
    ),
    DocPage(
        ptx1xx.SYNTAX_ERROR,
        "the text is not PTX here.",
        """Finds what the grammar has no place for, and says what could stand there. The parser
goes on at the next statement, and reports at most 50 such places.""",
        """No assembler reads further than the first one.""",
        '"Syntax", "Statements", "Constant Expressions"',
        "body",
        "add.s32 %r1, %r2 %r3;",
        "add.s32 %r1, %r2, %r3;",
    ),
    DocPage(
        ptx1xx.UNKNOWN_OPCODE,
        "no instruction has that name.",
        """Finds opcodes that the instruction table does not have, once for each. It is a note where
the module is newer than the table: there the opcode may be a new one.""",
        """An assembler refuses it; a newer one may not, and then it is not checked here.""",
        '"Instruction Set"',
        "body",
        "addd.s32 %r1, %r2, %r3;",
        "add.s32 %r1, %r2, %r3;",
    ),
    DocPage(
        ptx1xx.WRONG_MODIFIERS,
        "no form of the instruction has these modifiers.",
        """Finds a modifier that is missing, does not belong there, or does not go with another.
A warning says that assemblers take it nevertheless, and why.""",
        """Which bits are read, how they round and what is ordered is all in the modifiers.
`ptxkit isa OPCODE` shows the forms.""",
        '"Instruction Set": the section of the instruction',
        "body",
        "cvt.f32.s32 %f1, %r1;",
        "cvt.rn.f32.s32 %f1, %r1;",
    ),
    DocPage(
        ptx1xx.WRONG_OPERANDS,
        "an operand is not what the instruction takes.",
        """Finds operands that are too few, too many, of another kind, or in a register of a type
that the instruction does not take. Registers may be wider than the type in loads,
stores and conversions alone. A warning says that assemblers take it nevertheless.""",
        """An assembler refuses it, or reads other bits than were meant.""",
        '"Instruction Operands", "Operand Size Exceeding Instruction-Type Size"',
        "body",
        "add.f32 %f1, %f2, %rd1;",
        "add.f32 %f1, %f2, %f3;",
    ),
    DocPage(
        ptx1xx.CONSTANT_OUT_OF_RANGE,
        "a constant is none that the instruction takes.",
        """Finds constants beyond the range of the operand, off its step, or at odds with another
operand or a modifier; the message says which are right.""",
        """An assembler refuses it, or cuts it to the bits it needs: then another one is used.""",
        '"Constants", and the section of the instruction',
        "body",
        "cp.async.cg.shared.global [tile], [%rd1], 8;",
        "cp.async.cg.shared.global [tile], [%rd1], 16;",
    ),
    DocPage(
        ptx1xx.UNDECLARED_NAME,
        "nothing declares that name.",
        """Finds registers, variables, functions and labels that are not declared above, in the same
block or around it; labels may stand below. The nearest name is proposed.""",
        """An assembler refuses it. `%r<4>` declares `%r0` to `%r3`: the number is a count.""",
        '"Identifiers", "Parameterized Variable Names"',
        "body",
        "mov.u32 %r9, %r1;",
        "mov.u32 %r8, %r1;",
    ),
    DocPage(
        ptx1xx.MISPLACED_DIRECTIVE,
        "a directive cannot stand like that.",
        """Finds directives in the wrong place, in the wrong order, twice, beside one that excludes
them, without one they need, and with the wrong constants. Warnings and notes are of
what assemblers take and do not act on.""",
        """An assembler refuses it, or passes over it in silence: then the limit that was asked for
does not hold.""",
        '"Directives"',
        "module",
        ".entry other() .maxntid 128 .reqntid 128 { ret; }",
        ".entry other() .reqntid 128 { ret; }",
    ),
    DocPage(
        ptx1xx.WRONG_DECLARATION,
        "a variable, register or parameter cannot be declared like that.",
        """Finds types, state spaces, alignments, lengths and vectors that do not go together, or
cannot be declared where they are.""",
        """An assembler refuses it.""",
        '"State Spaces", "Types", "Variables"',
        "module",
        ".global .v4 .b64 table;",
        ".global .v2 .b64 table;",
    ),
    DocPage(
        ptx1xx.WRONG_INITIAL_VALUE,
        "a variable cannot begin with that value.",
        """Finds initial values of another type than the variable's, too many or too deep for its
length, or that are no constants; addresses of what has none.""",
        """An assembler refuses it, or cuts the value to the width of the variable.""",
        '"Initializers"',
        "module",
        ".global .b32 table[2] = {1, 2, 3};",
        ".global .b32 table[3] = {1, 2, 3};",
    ),
    DocPage(
        ptx1xx.DECLARED_TWICE,
        "the name is taken.",
        """Finds names that their block has already, and variables and functions that are declared
again otherwise than before.""",
        """An assembler refuses it. Inner blocks may use an outer name again: it hides the outer
one until the block ends.""",
        '"Identifiers", "Linking Directives"',
        "body",
        ".reg .b32 %x; .reg .f32 %x;",
        ".reg .b32 %x; { .reg .f32 %x; }",
    ),
    DocPage(
        ptx1xx.WRONG_CALL,
        "the call does not fit the function.",
        """Finds calls with other arguments or results than the function, the prototype or the list
of targets has: in number, size, alignment or kind; and calls of what is no function.""",
        """The two sides of a call agree on places of memory. An assembler refuses what it can see.""",
        '"Control Flow Instructions: call", "Function Declarations and Definitions"',
        "body",
        "call (%r1), helper, (%rd1);",
        "call (%r1), helper, (%r2);",
    ),
    DocPage(
        ptx1xx.UNUSED_SUPPRESSION,
        "the comment hides nothing.",
        """Finds codes in `// ptxkit: ignore[...]` of which nothing is found on the line, in the function
or in the file that the comment is for. Codes that are not asked for are left alone.""",
        """Such a comment outlives what it was written for, and hides the next fault at that place.""",
        '"Comments"',
        replacement="""Remove the code, or the comment: `ptxkit lint --fix` does.""",
    ),
    DocPage(
        ptx1xx.MALFORMED_SUPPRESSION,
        "the comment cannot be read.",
        """Finds comments that speak to ptxkit and name no code, one that there is not, or another word
than `ignore` and `ignore-file`.""",
        """It hides nothing, and whoever wrote it thinks that it does.""",
        '"Comments"',
        replacement=f"Write `// ptxkit: ignore[{ptx4xx.MISSING_PROXY_FENCE}] why` at the end of the line, above it, "
        f"or above a\nfunction; `// ptxkit: ignore-file[{ptx4xx.MISSING_PROXY_FENCE}] why` for a file.",
    ),
    DocPage(
        ptx2xx.SYMBOL_IN_WRONG_SPACE,
        "the variable is in another state space than the instruction.",
        """Finds names of variables, parameters and functions where their state space, or what they
are, forbids it: also parameters of a kernel that are written, and addresses of
`.param` variables of a body, which have none.""",
        "The name of a variable is its address in its own space: in another one the same number is\nanother place. "
        f"{ptx2xx.GENERIC_ADDRESS_IN_SPACE} and {ptx2xx.SPACE_OFFSET_AS_GENERIC} find the same of "
        "addresses in registers.",
        '"State Spaces", "Addresses as Operands", "Generic Addressing"',
        "body",
        "ld.global.b32 %r1, [tile];",
        "ld.shared.b32 %r1, [tile];",
    ),
    DocPage(
        ptx2xx.MISALIGNED_OFFSET,
        "the address cannot be aligned as the access asks.",
        """Finds accesses at an offset from a variable that is off the alignment of the access, and
stays so wherever the variable is placed. It is a warning: assemblers do not look.""",
        """At run time such an access faults, or leaves its result undefined.""",
        '"Addresses as Operands", "Alignment"',
        "module",
        ".entry other() { .reg .b64 %rd; ld.shared.b64 %rd, [tile+12]; ret; }",
        ".entry other() { .reg .b64 %rd; ld.shared.b64 %rd, [tile+8]; ret; }",
    ),
    DocPage(
        ptx3xx.NOT_REACHED,
        "the analysis did not get to this instruction.",
        """Counts asynchronous instructions that no walk through the program came to: in functions
that no kernel of the file calls, or behind limits of the search; and calls of functions
whose code is not in the file. It is never a finding; `ptxkit lint --format json` lists them
as undecided. What other rules would have asked, had such a call done nothing, is undecided
under their codes. Calls of `vprintf`, `malloc`, `free`, `__assertfail` and the device runtime
are known: they order nothing, and `__assertfail` ends the launch as `trap` does.""",
        """Of such an instruction nothing is said: silence is no proof that it is right.""",
        '"Control Flow Instructions"',
        replacement="""Call the function from a kernel of the same file, link what is called into it, or remove
what no path leads to.""",
    ),
    DocPage(
        ptx6xx.STOPPED_ITSELF,
        "a run on the reference machine ended by the kernel's own will, or for want of a stack.",
        """Says of `ptxkit verify` and `ptxkit run` that a kernel executed `trap` or `brkpt`, that an
assertion failed, or that its calls need more local memory than a thread has.""",
        """The launch fails. Where the arguments were chosen, and not given, it may be that the kernel
refuses them.""",
        '"Miscellaneous Instructions: trap", "Miscellaneous Instructions: brkpt"',
        replacement="""Look at the arguments of the run, which stand beside the finding; give those that the host
passes by `--arg`.""",
    ),
    DocPage(
        ptx6xx.DEPENDS_ON_UNWRITTEN,
        "results of a kernel depend on memory or registers that nobody wrote.",
        """Says of `ptxkit verify` that two runs of a kernel, by the same chance, gave other results,
or that one of them went wrong, as what nobody wrote held other bits at first: registers,
shared and local memory. What is read and makes no difference is left alone. `ptxkit run` and
the builder's `emulate` say it of registers: the finding stands at the instruction that reads
a register which its thread has not written. Where `ptxkit verify` chose arguments, that is an
open question.""",
        """What is there at first is undefined: the results are another launch's leavings.""",
        '"State Spaces"',
        replacement="""Store to the memory, or the register, before it is read; or do not store what comes
of it.""",
    ),
    DocPage(
        ptx8xx.NEEDS_NEWER_VERSION,
        "the module's `.version` or `.target` does not have it.",
        """Finds instructions, modifiers, types and directives that came with a later version or
target, were removed, or belong to one family of targets (`sm_90a`). The message names
the least that would do.""",
        """An assembler refuses it.""",
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
        "`cuda::ptx` was compiled for a target without the instruction.",
        """Finds calls of the functions that libcu++ puts in the place of an instruction that the
target lacks. Nothing defines them. Where one is declared and not called, it is a
warning.""",
        """The module is assembled part by part, and cannot be linked into a program.""",
        '"PTX Module Directives: .target"',
        "module",
        """.func __cuda_ptx_mapa_is_not_supported_before_SM_90__();
.entry other() { call __cuda_ptx_mapa_is_not_supported_before_SM_90__, (); ret; }""",
        ".entry other() { .reg .b32 %r; mapa.shared::cluster.u32 %r, tile, 0; ret; }",
    ),
    DocPage(
        ptx8xx.UNKNOWN_VERSION,
        "there is no such `.version` or `.target`.",
        """Finds versions and targets that NVIDIA never released, and those that are newer than what
ptxkit knows; the nearest one is proposed.""",
        """No assembler takes the module; a newer ptxkit may know it.""",
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
