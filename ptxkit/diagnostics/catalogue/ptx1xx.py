"""PTX1xx: text, forms and declarations."""

from __future__ import annotations

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate
from ptxkit.fast_dataclasses import dataclass

NO_VERDICT = DiagnosticCode("PTX100", "no-verdict")

SYNTAX_ERROR = DiagnosticCode("PTX101", "syntax-error")


@dataclass(frozen=True, slots=True)
class MissingBrace:
    """The `}` of a block or of a function's body is missing where the error is reported."""


UNKNOWN_OPCODE = DiagnosticCode("PTX102", "unknown-opcode")
NOT_IN_TABLE = MessageTemplate(UNKNOWN_OPCODE, "`{name}` is not in the instruction table{hint}")
SIMILAR_WORD = MessageTemplate(UNKNOWN_OPCODE, "; did you mean `{word}`?")

WRONG_MODIFIERS = DiagnosticCode("PTX103", "wrong-modifiers")
BREAKS_RULE_OF_FORM = MessageTemplate(WRONG_MODIFIERS, "`{opcode}` breaks a rule of `{form}`: {rule}")
MODIFIER_DOES_NOT_FIT = MessageTemplate(
    WRONG_MODIFIERS, "`.{word}` does not go with the other modifiers of `{name}`{hint}{needed}"
)
NO_MODIFIER = MessageTemplate(WRONG_MODIFIERS, "`.{word}` is no modifier of `{name}`{hint}{needed}")
LACKS_MODIFIER = MessageTemplate(WRONG_MODIFIERS, "`{opcode}` lacks a modifier{needed}")
ONE_OF_NEEDED = MessageTemplate(WRONG_MODIFIERS, "; one of {values} is needed")
MODIFIERS_TOLERATED = MessageTemplate(WRONG_MODIFIERS, "`{opcode}` is tolerated: {tolerance}")

WRONG_OPERANDS = DiagnosticCode("PTX104", "wrong-operands")
WRONG_OPERAND_COUNT = MessageTemplate(WRONG_OPERANDS, "`{opcode}` takes {wanted} operands, and has {given}")
ONE_OPERAND_NEEDED = MessageTemplate(WRONG_OPERANDS, "`{opcode}` takes {wanted} operand, and has {given}")
OPERAND_DOES_NOT_FIT = MessageTemplate(WRONG_OPERANDS, "operand {operand} of `{opcode}` must be {expected}")
GUARDED_PARAMETER_ACCESS = MessageTemplate(
    WRONG_OPERANDS, "`{opcode}` accesses a parameter of a call and must not have a guard"
)
GUARD_NO_PREDICATE = MessageTemplate(WRONG_OPERANDS, "the guard `{name}` is not a predicate, but {kind}")
OPCODE_TOLERATED = MessageTemplate(WRONG_OPERANDS, "`{opcode}` is tolerated: {tolerance}")
OPERAND_TOLERATED = MessageTemplate(WRONG_OPERANDS, "operand {operand} of `{opcode}` is tolerated: {tolerance}")
OPERAND_WRONG = MessageTemplate(WRONG_OPERANDS, "operand {operand} of `{opcode}` {reason}")
TARGET_OF_WRONG_KIND = MessageTemplate(WRONG_OPERANDS, "{rule}: `{name}` is {kind}")
OPERAND_WRONG_BUT_TOLERATED = MessageTemplate(WRONG_OPERANDS, "{problem}{tolerance}")

CONSTANT_OUT_OF_RANGE = DiagnosticCode("PTX105", "constant-out-of-range")
CONSTANT_NOT_ALLOWED = MessageTemplate(CONSTANT_OUT_OF_RANGE, "{operand} {reason}{tolerance}")

UNDECLARED_NAME = DiagnosticCode("PTX106", "undeclared-name")
REGISTER_BEYOND_COUNT = MessageTemplate(
    UNDECLARED_NAME, "{role}`{name}` is not declared: `{register}<{count}>` declares {declared}"
)
ELEMENT_NOT_DECLARED = MessageTemplate(
    UNDECLARED_NAME, "{role}`{name}` is not declared: `{whole}` is {kind}, which has no such element"
)
NAME_NOT_DECLARED = MessageTemplate(UNDECLARED_NAME, "{role}`{name}` is not declared")

MISPLACED_DIRECTIVE = DiagnosticCode("PTX107", "misplaced-directive")
ALIAS_OF_ITSELF = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` cannot be an alias of itself")
ALIAS_HAS_BODY = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` has a body, so it cannot be an alias")
ALIAS_DEFINED_TWICE = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` is already an alias of `{aliased}`")
ALIASED_HAS_NO_ALIAS = MessageTemplate(MISPLACED_DIRECTIVE, "`{aliased}` is `.{directive}`, so it cannot have an alias")
ALIAS_DIFFERS = MessageTemplate(MISPLACED_DIRECTIVE, "`{aliased}` differs from its alias `{name}`: {difference}")
ALIASED_NOT_DECLARED = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` is not declared above this line")
ALIASED_IS_NO_FUNCTION = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` is not a function: only functions have aliases")
ALIASED_IS_KERNEL = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` is a kernel: only device functions have aliases")
FILE_WITH_MORE_WORDS = MessageTemplate(MISPLACED_DIRECTIVE, "`.file` takes a number, a name, a time and a size")
NUMBER_TOO_LARGE = MessageTemplate(MISPLACED_DIRECTIVE, "{word} is too large a number")
INLINED_LOC_INCOMPLETE = MessageTemplate(
    MISPLACED_DIRECTIVE, "`.loc` needs both `function_name` and `inlined_at`, in this order"
)
LOC_LABEL_IS_PTX_WORD = MessageTemplate(MISPLACED_DIRECTIVE, "`{label}` is a PTX keyword, not a section")
INLINED_LOC_WITHOUT_OUTER = MessageTemplate(
    MISPLACED_DIRECTIVE, "no `.loc {location}` precedes this one, which is inlined there"
)
SECTION_NAME_IS_PTX_WORD = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` is a PTX keyword, not the name of a section")
NESTED_FUNCTION_TOLERATED = MessageTemplate(
    MISPLACED_DIRECTIVE, "a function is declared in the body of another, which only some assemblers accept"
)
NESTED_ALIAS_TOLERATED = MessageTemplate(
    MISPLACED_DIRECTIVE, "`.alias` in the body of a function, which only some assemblers accept"
)
NORETURN_WITH_RESULTS = MessageTemplate(MISPLACED_DIRECTIVE, "a function that never returns has no results")
LINKAGES_EXCLUDE = MessageTemplate(MISPLACED_DIRECTIVE, "`.{first}` and `.{second}` exclude each other")
SEVERAL_ATTRIBUTES = MessageTemplate(MISPLACED_DIRECTIVE, "a function can have only one attribute")
DIRECTIVES_EXCLUDE = MessageTemplate(MISPLACED_DIRECTIVE, "`{word}` and `.{other}` exclude each other")
DIRECTIVE_AFTER_OTHERS = MessageTemplate(
    MISPLACED_DIRECTIVE, "`{word}` must follow all other directives of the function"
)
DIRECTIVE_TWICE = MessageTemplate(MISPLACED_DIRECTIVE, "`{word}` occurs twice")
DIRECTIVE_TWICE_TOLERATED = MessageTemplate(
    MISPLACED_DIRECTIVE, "`{word}` occurs twice, which only some assemblers accept"
)
DIRECTIVE_BEFORE_OTHERS = MessageTemplate(
    MISPLACED_DIRECTIVE, "`{word}` must precede all other directives of the function"
)
DIRECTIVE_NEEDS_OTHER = MessageTemplate(MISPLACED_DIRECTIVE, "`{word}` requires {needed}")
DIRECTIVE_WITHOUT_EFFECT = MessageTemplate(MISPLACED_DIRECTIVE, "`{word}` has no effect without {needed}")
DIRECTIVE_IN_WRONG_PLACE = MessageTemplate(MISPLACED_DIRECTIVE, "`{word}` is not allowed {place}")
DIRECTIVE_ARGUMENTS_WRONG = MessageTemplate(MISPLACED_DIRECTIVE, "`{word}` {reason}")
NO_SUCH_DIRECTIVE = MessageTemplate(MISPLACED_DIRECTIVE, "`.{name}` is not a directive that is allowed {place}")
PRAGMA_IN_WRONG_PLACE = MessageTemplate(MISPLACED_DIRECTIVE, 'the pragma "{name}" is not allowed here')
PRAGMA_ARGUMENT_WRONG = MessageTemplate(MISPLACED_DIRECTIVE, 'the pragma "{name}" takes {values}, not `{value}`')
PRAGMA_UNKNOWN = MessageTemplate(
    MISPLACED_DIRECTIVE, 'the pragma "{name}" is unknown; assemblers ignore unknown ones silently'
)
DEBUG_TARGET_WITHOUT_SECTIONS = MessageTemplate(
    MISPLACED_DIRECTIVE, "`.target` has `debug`, but the module has no `.section` with debugging information"
)
HEADING_IN_WRONG_PLACE = MessageTemplate(MISPLACED_DIRECTIVE, "`.{name}` is allowed only {place}")
TARGET_DOES_NOT_BEGIN = MessageTemplate(MISPLACED_DIRECTIVE, "`.target` must begin with a target, not with `{word}`")
TARGET_OPTIONS_EXCLUDE = MessageTemplate(MISPLACED_DIRECTIVE, "`{name}` and `{other}` exclude each other")
ADDRESS_SIZE_32 = MessageTemplate(
    MISPLACED_DIRECTIVE, "ptxas 13 checks modules with addresses of 32 bits, and generates no code for them"
)
ADDRESS_SIZE_WRONG = MessageTemplate(MISPLACED_DIRECTIVE, "`.address_size` must be {sizes}, not {word}")
SPECIAL_REGISTER_NEEDS_DIRECTIVE = MessageTemplate(
    MISPLACED_DIRECTIVE, "`{name}` is read only in a kernel with `.{directive}`"
)
LINKAGE_IN_WRONG_PLACE = MessageTemplate(MISPLACED_DIRECTIVE, "`.{word}` is not allowed {place}")
NO_DIRECTIVE_HERE = MessageTemplate(MISPLACED_DIRECTIVE, "`.{word}` is not a directive that is allowed here")
PTR_OF_OTHER_PARAMETER = MessageTemplate(MISPLACED_DIRECTIVE, "`.ptr` is allowed only on a parameter of a kernel")
PTR_TO_OTHER_SPACE = MessageTemplate(MISPLACED_DIRECTIVE, "a pointer parameter cannot point to .{word} space")

WRONG_DECLARATION = DiagnosticCode("PTX108", "wrong-declaration")
NO_DEBUG_DATA_TYPE = MessageTemplate(WRONG_DECLARATION, "`{word}` is not a type of debugging data")
SAMPLER_NEEDS_INDEPENDENT_MODE = MessageTemplate(
    WRONG_DECLARATION, "`.samplerref` needs `texmode_independent`: in unified mode a texture holds its sampler"
)
TYPE_IN_FUNCTION_BODY = MessageTemplate(WRONG_DECLARATION, "`.{type}` is not allowed in the body of a function")
DECLARES_NOTHING = MessageTemplate(
    WRONG_DECLARATION, "this declaration declares nothing; only some assemblers accept it"
)
OPEN_ARRAY_PARAMETER = MessageTemplate(
    WRONG_DECLARATION, "only the last parameter of a function can be an array of open length"
)
RESULTS_NOT_IN_REGISTERS = MessageTemplate(
    WRONG_DECLARATION, "a function with several results returns them in registers"
)
SPACE_NOT_ALLOWED = MessageTemplate(WRONG_DECLARATION, "a .{space} variable cannot be declared {place}")
INSTRUCTION_TYPE_OF_VARIABLE = MessageTemplate(
    WRONG_DECLARATION, "`.{type}` is an instruction type, not a variable type"
)
NO_VARIABLE_TYPE = MessageTemplate(WRONG_DECLARATION, "`.{type}` is not a variable type")
NO_SUCH_VECTOR = MessageTemplate(WRONG_DECLARATION, "there are no .{vector} vectors of .{type} variables")
VECTOR_TOO_WIDE = MessageTemplate(
    WRONG_DECLARATION, "a vector has at most {limit} bits, but {lanes} elements of .{type} have more"
)
VARIABLE_NOT_ALLOWED = MessageTemplate(WRONG_DECLARATION, "{kind} cannot be {place}")
ALIGNMENT_NOT_POWER_OF_TWO = MessageTemplate(
    WRONG_DECLARATION, "an alignment must be a power of two, and {alignment} is not"
)
PARAMETER_ALIGNMENT_TOO_LARGE = MessageTemplate(
    WRONG_DECLARATION, "the alignment of a function parameter is at most {limit} bytes"
)
NAME_OF_SPECIAL_REGISTER = MessageTemplate(WRONG_DECLARATION, "`{name}` is a special register")
NAME_IS_SINK = MessageTemplate(WRONG_DECLARATION, "`_` is the sink, not a name")
NAME_WITH_DOT = MessageTemplate(WRONG_DECLARATION, "a name cannot contain a dot: `{name}`")
PARAMETER_WITH_INITIAL_VALUE = MessageTemplate(WRONG_DECLARATION, "the parameter `{name}` cannot have an initial value")
LENGTH_LEFT_OPEN = MessageTemplate(WRONG_DECLARATION, "only the first length of `{name}` may be left open")
KERNEL_PARAMETER_NEEDS_LENGTH = MessageTemplate(WRONG_DECLARATION, "the parameter of a kernel, `{name}` needs a length")
RESULT_NEEDS_LENGTH = MessageTemplate(WRONG_DECLARATION, "the result of a function, `{name}` needs a length")
ARRAY_WITHOUT_LENGTH = MessageTemplate(
    WRONG_DECLARATION, "`{name}` has no length: only `.extern` variables and initialized ones can leave it open"
)
PARAMETERS_TOO_LARGE = MessageTemplate(
    WRONG_DECLARATION, "the parameters of `{name}` take {size} bytes; the limit is {limit}"
)

WRONG_INITIAL_VALUE = DiagnosticCode("PTX109", "wrong-initial-value")
DEBUG_VALUE_TOO_LARGE = MessageTemplate(WRONG_INITIAL_VALUE, "{value} does not fit in `{type}`")
DEBUG_LABEL_IS_PTX_WORD = MessageTemplate(WRONG_INITIAL_VALUE, "`{value}` is a PTX keyword, not a section")
DEBUG_LABEL_NEEDS_WIDTH = MessageTemplate(WRONG_INITIAL_VALUE, "a label such as `{value}` needs 32 or 64 bits")
NO_INITIAL_VALUE_IN_SPACE = MessageTemplate(
    WRONG_INITIAL_VALUE, "`{name}` is in .{space} space, where no variable has an initial value"
)
EXTERN_WITH_INITIAL_VALUE = MessageTemplate(
    WRONG_INITIAL_VALUE, "`{name}` is `.extern`: its initial value belongs to its definition"
)
ARRAY_VALUES_WITHOUT_BRACES = MessageTemplate(WRONG_INITIAL_VALUE, "the values of the array `{name}` must be in braces")
VECTOR_VALUE_WITHOUT_BRACES = MessageTemplate(
    WRONG_INITIAL_VALUE, "a value of the vector `{name}` must be {lanes} constants in braces"
)
VALUE_WITH_BRACES = MessageTemplate(WRONG_INITIAL_VALUE, "`{name}` is not an array: its value must not have braces")
TOO_MANY_VALUES = MessageTemplate(WRONG_INITIAL_VALUE, "`{name}` has {given} initial values for {length} elements")
VALUES_NEST_TOO_DEEP = MessageTemplate(WRONG_INITIAL_VALUE, "the values of `{name}` nest deeper than its dimensions")
NO_INITIAL_VALUE = MessageTemplate(WRONG_INITIAL_VALUE, "this is not an initial value of `{name}`")
INITIAL_VALUE_UNDEFINED = MessageTemplate(WRONG_INITIAL_VALUE, "the initial value of `{name}` is undefined")
INITIAL_VALUE_OF_OTHER_KIND = MessageTemplate(
    WRONG_INITIAL_VALUE, "a .{type} variable such as `{name}` cannot be initialized with {kind}"
)
ADDRESS_MASK_INVALID = MessageTemplate(
    WRONG_INITIAL_VALUE, "the mask {mask} must be 0xFF, 0xFF00, and so on: one byte of the address"
)
FUNCTION_ADDRESS_IN_EXPRESSION = MessageTemplate(
    WRONG_INITIAL_VALUE, "`{name}` is a function: its address takes no offset, mask or `generic()`"
)
INITIAL_SYMBOL_NOT_DECLARED = MessageTemplate(WRONG_INITIAL_VALUE, "`{name}` is not declared above this line")
ADDRESS_NOT_CONSTANT = MessageTemplate(
    WRONG_INITIAL_VALUE, "the address of `{name}` is not a constant: only variables in .global and .const have one"
)
OBJECT_VALUE_NOT_FIELDS = MessageTemplate(WRONG_INITIAL_VALUE, "the value of `{name}` must be named fields in braces")
TOO_MANY_FIELDS = MessageTemplate(WRONG_INITIAL_VALUE, "`{name}` has {fields} fields, and {given} values")
FIELD_VALUE_WITHOUT_NAME = MessageTemplate(WRONG_INITIAL_VALUE, "a value of `{name}` has no name")
NO_SUCH_FIELD = MessageTemplate(WRONG_INITIAL_VALUE, "a .{type} has no field `{field}`")
NO_FIELD_VALUE = MessageTemplate(WRONG_INITIAL_VALUE, "`{text}` is not a valid field value")
FIELD_TAKES_CONSTANT = MessageTemplate(WRONG_INITIAL_VALUE, "the field `{field}` takes a constant")

DECLARED_TWICE = DiagnosticCode("PTX110", "declared-twice")
FILE_NUMBER_TWICE = MessageTemplate(DECLARED_TWICE, "there are two files with number {number}")
SECTION_LABEL_TWICE = MessageTemplate(DECLARED_TWICE, "the label `{label}` occurs twice in sections")
DECLARED_TWICE_IN_BLOCK = MessageTemplate(
    DECLARED_TWICE, "`{name}` is declared twice in one block: it is already {earlier}"
)
LABEL_TWICE_IN_BLOCK = MessageTemplate(DECLARED_TWICE, "the label `{name}` occurs twice in one block")
LABEL_NAME_TAKEN = MessageTemplate(
    DECLARED_TWICE, "the name of the label `{name}` is already declared: it is {earlier}"
)
REDECLARATION_DIFFERS = MessageTemplate(DECLARED_TWICE, "`{name}` is declared again, and {difference}")
EXTERN_WITH_BODY = MessageTemplate(DECLARED_TWICE, "`{name}` is `.extern` but has a body")

WRONG_CALL = DiagnosticCode("PTX111", "wrong-call")
CALLEE_IS_VECTOR_ELEMENT = MessageTemplate(WRONG_CALL, "`{name}` is an element of a vector, which cannot be called")
CALLEE_NOT_CALLABLE = MessageTemplate(WRONG_CALL, "`{name}` is {kind}, which cannot be called")
CALLEE_WITH_PROTOTYPE_NOT_A_REGISTER = MessageTemplate(
    WRONG_CALL, "`{name}` is {kind}; a call with a prototype goes through a register"
)
CALL_LIST_OF_WRONG_KIND = MessageTemplate(
    WRONG_CALL, "`{name}` is {kind}; it must be a prototype or a list of call targets"
)
ARGUMENT_DOES_NOT_FIT = MessageTemplate(WRONG_CALL, "the {role} for {argument} of `{function}` {reason}")
ARGUMENT_COUNT_DIFFERS = MessageTemplate(WRONG_CALL, "`{function}` has {expected}, but the call has {given}")

UNUSED_SUPPRESSION = DiagnosticCode("PTX191", "unused-suppression", Severity.WARNING)
COMMENT_WITHOUT_EFFECT = MessageTemplate(UNUSED_SUPPRESSION, "{code} has no finding here: the comment has no effect")

MALFORMED_SUPPRESSION = DiagnosticCode("PTX192", "malformed-suppression", Severity.WARNING)
UNKNOWN_COMMENT = MessageTemplate(MALFORMED_SUPPRESSION, "ptxkit knows no `{word}` in a comment")
NO_CODES_NAMED = MessageTemplate(MALFORMED_SUPPRESSION, "the comment does not name the codes that it hides")
UNKNOWN_CODE = MessageTemplate(MALFORMED_SUPPRESSION, "there is no code `{word}`")
SIMILAR_CODE = MessageTemplate(MALFORMED_SUPPRESSION, "there is no code `{word}`; did you mean `{code}`?")
WRITE_COMMENT = MessageTemplate(MALFORMED_SUPPRESSION, "write `// ptxkit: ignore[{code}] why`, or `ignore-file[...]`")
