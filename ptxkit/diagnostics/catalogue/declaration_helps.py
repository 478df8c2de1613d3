"""Help texts, and words for kinds of names, of declarations, instructions and calls."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue.ptx1xx import WRONG_DECLARATION
from ptxkit.diagnostics.message import MessageTemplate

STORE_IN_CODE = MessageTemplate(WRONG_DECLARATION, "store the value in the code, or use .global or .const")
REMOVE_EXTERN_OR_VALUE = MessageTemplate(WRONG_DECLARATION, "remove `.extern`, or the value")
WRITE_BRACES = MessageTemplate(WRONG_DECLARATION, "write `{{ ... }}`")
REMOVE_OUTER_BRACES = MessageTemplate(WRONG_DECLARATION, "remove the braces")
REMOVE_VALUES = MessageTemplate(WRONG_DECLARATION, "remove values, or raise the length")
REMOVE_BRACES = MessageTemplate(WRONG_DECLARATION, "remove braces")
WRITE_ADDRESS_EXPRESSION = MessageTemplate(
    WRONG_DECLARATION, "write a constant, a symbol, `symbol+4`, `generic(symbol)` or `0xFF(symbol)`"
)
KEEP_TYPES = MessageTemplate(WRONG_DECLARATION, "do not divide by zero, nor mix types")
TAKES_NO_VALUE = MessageTemplate(WRONG_DECLARATION, "it takes no initial value")
TAKES_VALUE = MessageTemplate(WRONG_DECLARATION, "it takes {values}")
ONE_MASK_EACH = MessageTemplate(WRONG_DECLARATION, "write one mask for each byte")
WRITE_NAME = MessageTemplate(WRONG_DECLARATION, "write `{name}`")
DECLARE_ABOVE = MessageTemplate(WRONG_DECLARATION, "declare it above this line")
DID_YOU_MEAN = MessageTemplate(WRONG_DECLARATION, "did you mean `{name}`?")
STORE_ADDRESS_IN_CODE = MessageTemplate(WRONG_DECLARATION, "store the address in the code")
WRITE_FIELDS = MessageTemplate(WRONG_DECLARATION, "write `{{{field} = 1}}`")
REMOVE_SOME = MessageTemplate(WRONG_DECLARATION, "remove some")
WRITE_FIELD = MessageTemplate(WRONG_DECLARATION, "write `{field} = 1`")
KNOWN_FIELDS = MessageTemplate(WRONG_DECLARATION, "the fields are {fields}")
KNOWN_SYMBOLS = MessageTemplate(WRONG_DECLARATION, "known are {symbols}")
AN_INTEGER = MessageTemplate(WRONG_DECLARATION, "an integer")
A_FLOAT = MessageTemplate(WRONG_DECLARATION, "a floating-point number")
AN_ADDRESS = MessageTemplate(WRONG_DECLARATION, "an address")
EIGHT_BITS_OF_ADDRESS = MessageTemplate(WRONG_DECLARATION, "eight bits of an address")
NAMED_FIELDS = MessageTemplate(WRONG_DECLARATION, "named fields in braces")
GUARD_CALL = MessageTemplate(
    WRONG_DECLARATION, "guard the call itself, or move the value in a separate guarded instruction"
)
ADD_TO_KERNEL = MessageTemplate(WRONG_DECLARATION, "add `.{directive}` to the kernel")
RAISE_MODULE = MessageTemplate(WRONG_DECLARATION, "raise the module to {needed}")
THE_GUARD = MessageTemplate(WRONG_DECLARATION, "the guard ")
SYMBOL_IS = MessageTemplate(WRONG_DECLARATION, ": `{name}` is {kind}")
OPERAND_OF = MessageTemplate(WRONG_DECLARATION, "operand {operand} of `{opcode}`")
NAME_FITTING_SYMBOL = MessageTemplate(
    WRONG_DECLARATION, "name a symbol that fits, or use the form of the instruction for this one's state space"
)
DECLARED_HERE = MessageTemplate(WRONG_DECLARATION, "declared here")
NEAREST_FORM = MessageTemplate(WRONG_DECLARATION, "the nearest form is `{form}`")
OPERAND_MUST_BE = MessageTemplate(WRONG_DECLARATION, "it must be {expected}")
WRITE_OPCODE = MessageTemplate(WRONG_DECLARATION, "write `{opcode}`")
TOLERATED = MessageTemplate(WRONG_DECLARATION, "; tolerated: {tolerance}")
USE_ALIGNED_OFFSET = MessageTemplate(
    WRONG_DECLARATION, "use an offset that is a multiple of {multiple}, or a narrower access"
)
CALL_FUNCTION = MessageTemplate(
    WRONG_DECLARATION,
    "call a `.func`; to call through a register, name a `.callprototype` or `.calltargets` after the arguments",
)
CALL_DEVICE_FUNCTION = MessageTemplate(WRONG_DECLARATION, "only a `.func` can be called; put what both share into one")
MOVE_ADDRESS_FIRST = MessageTemplate(
    WRONG_DECLARATION, "move the function's address to a .b64 register first, or leave out the prototype"
)
PUT_LIST_ABOVE = MessageTemplate(
    WRONG_DECLARATION, "put `.callprototype` or `.calltargets` with this label above the call"
)
COUNT_IN_FILE = MessageTemplate(WRONG_DECLARATION, " ({count} instructions in this file)")
NOT_CHECKED = MessageTemplate(WRONG_DECLARATION, "; it is not checked")
LABEL_KIND = MessageTemplate(WRONG_DECLARATION, "a label")
FUNCTION_KIND = MessageTemplate(WRONG_DECLARATION, "a function")
KERNEL_KIND = MessageTemplate(WRONG_DECLARATION, "a kernel")
BRANCH_TARGETS_KIND = MessageTemplate(WRONG_DECLARATION, "a list of branch targets")
CALL_TARGETS_KIND = MessageTemplate(WRONG_DECLARATION, "a list of call targets")
PROTOTYPE_KIND = MessageTemplate(WRONG_DECLARATION, "a call prototype")
KERNEL_PARAMETER_KIND = MessageTemplate(WRONG_DECLARATION, "a kernel parameter")
INPUT_KIND = MessageTemplate(WRONG_DECLARATION, "a parameter of the function")
OUTPUT_KIND = MessageTemplate(WRONG_DECLARATION, "a return parameter of the function")
ARGUMENT_KIND = MessageTemplate(WRONG_DECLARATION, "a .param variable of the body")
TEXTURE_KIND = MessageTemplate(WRONG_DECLARATION, "a texture reference")
SURFACE_KIND = MessageTemplate(WRONG_DECLARATION, "a surface reference")
SAMPLER_KIND = MessageTemplate(WRONG_DECLARATION, "a sampler reference")
SPECIAL_REGISTER_KIND = MessageTemplate(WRONG_DECLARATION, "a special register")
RAISE_COUNT = MessageTemplate(
    WRONG_DECLARATION, "raise the number in `{register}<{count}>`, or use one of its registers"
)
RENAME_HIDING = MessageTemplate(WRONG_DECLARATION, "give what is declared as `{name}` another name")
DECLARE_BEFORE = MessageTemplate(WRONG_DECLARATION, "declare it before this line, in this block or around it")
OF_SIMILAR_NAME = MessageTemplate(WRONG_DECLARATION, "{kind} of a similar name")
RENAME_OR_BLOCK = MessageTemplate(WRONG_DECLARATION, "rename one of them, or give one its own block `{{ ... }}`")
NAME_TAKEN_HERE = MessageTemplate(WRONG_DECLARATION, "the name is taken here")
MAKE_DECLARATIONS_AGREE = MessageTemplate(WRONG_DECLARATION, "make both declarations equal, or rename one")
DECLARED_HERE_FIRST = MessageTemplate(WRONG_DECLARATION, "declared here first")
REMOVE_EXTERN_OR_BODY = MessageTemplate(WRONG_DECLARATION, "remove `.extern`, or the body")
SPACE_DIFFERS = MessageTemplate(WRONG_DECLARATION, "is in .{space}, not .{earlier}")
TYPE_DIFFERS = MessageTemplate(WRONG_DECLARATION, "has the type .{type}, not .{earlier}")
DIMENSIONS_DIFFER = MessageTemplate(WRONG_DECLARATION, "differs in its dimensions")
LENGTH_DIFFERS = MessageTemplate(WRONG_DECLARATION, "has {length} elements, not {earlier}")
NOT_EXTERN = MessageTemplate(WRONG_DECLARATION, "only `.extern` variables can be declared again")
WITHOUT_LINKAGE = MessageTemplate(
    WRONG_DECLARATION, "a variable without linkage cannot stand for an `.extern` one: add `.visible`"
)
KIND_DIFFERS = MessageTemplate(WRONG_DECLARATION, "is a .{kind}, not a .{earlier}")
HAS_BODY_ALREADY = MessageTemplate(WRONG_DECLARATION, "has a body already")
FIRST_IS_EXTERN = MessageTemplate(
    WRONG_DECLARATION, "is `.extern` in its first declaration, which a function with a body cannot be"
)
NORETURN_DIFFERS = MessageTemplate(WRONG_DECLARATION, "only one of both has `.noreturn`")
PARAMETER_COUNT_DIFFERS = MessageTemplate(WRONG_DECLARATION, "has another number of parameters")
PARAMETER_DIFFERS = MessageTemplate(WRONG_DECLARATION, "its parameter `{name}` {difference}")
OTHER_TYPE = MessageTemplate(WRONG_DECLARATION, "has another type")
ALIGNMENT_DIFFERS = MessageTemplate(WRONG_DECLARATION, "is aligned to {alignment} bytes, not {earlier}")
BRANCH_TARGET_RULE = MessageTemplate(WRONG_DECLARATION, "a branch target must be a label")
LIST_LABELS = MessageTemplate(WRONG_DECLARATION, "list labels of this block or of those around it")
CALL_TARGET_RULE = MessageTemplate(WRONG_DECLARATION, "a call target must be a function")
LIST_FUNCTIONS = MessageTemplate(WRONG_DECLARATION, "list functions that are declared above")
OUTSIDE_FUNCTIONS = MessageTemplate(WRONG_DECLARATION, "outside of functions")
IN_BODY = MessageTemplate(WRONG_DECLARATION, "in the body of a function")
AS_KERNEL_PARAMETER = MessageTemplate(WRONG_DECLARATION, "as the parameter of a kernel")
AS_PARAMETER = MessageTemplate(WRONG_DECLARATION, "as the parameter of a function")
AS_RESULT = MessageTemplate(WRONG_DECLARATION, "as the result of a function")
MOVE_OUT_OF_FUNCTION = MessageTemplate(WRONG_DECLARATION, "move it outside of the function")
NAME_VARIABLE = MessageTemplate(WRONG_DECLARATION, "name a variable, or remove it")
MOVE_DECLARATION_OUT = MessageTemplate(
    WRONG_DECLARATION, "move the declaration outside of the function, or remove the word"
)
LISTED_DIRECTIVES = MessageTemplate(
    WRONG_DECLARATION, "directives are listed in the manual under Directives; an opcode does not begin with a dot"
)
MOVE_TO_END = MessageTemplate(WRONG_DECLARATION, "give it a length, or move it to the end")
DECLARE_REGISTERS = MessageTemplate(WRONG_DECLARATION, "declare them `.reg`, or return one `.param` array")
ALLOWED_SPACES = MessageTemplate(WRONG_DECLARATION, "there it is {spaces}")
DECLARE_UNTYPED = MessageTemplate(WRONG_DECLARATION, "declare an untyped variable of its width, such as .b32")
DID_YOU_MEAN_TYPE = MessageTemplate(WRONG_DECLARATION, "did you mean `.{name}`?")
TYPES_OF_VARIABLES = MessageTemplate(WRONG_DECLARATION, "the types of variables include .b32, .u64, .f32 and .pred")
VECTORS_OF_VARIABLES = MessageTemplate(WRONG_DECLARATION, "vectors are .v2 or .v4")
USE_SMALLER = MessageTemplate(WRONG_DECLARATION, "use a smaller one, or an array")
CAN_BE_IN = MessageTemplate(WRONG_DECLARATION, "it can be in {spaces} space")
NUMBER_REGISTERS = MessageTemplate(WRONG_DECLARATION, "registers are numbered: write `{name}<{count}>`")
IN_SPACE = MessageTemplate(WRONG_DECLARATION, "in .{space} space")
WRITE_POWER_OF_TWO = MessageTemplate(WRONG_DECLARATION, "write 1, 2, 4, 8, 16 and so on")
WRITE_ALIGNMENT = MessageTemplate(WRONG_DECLARATION, "write `.align {alignment}`")
REMOVE_IT = MessageTemplate(WRONG_DECLARATION, "remove it")
WRITE_SPACES = MessageTemplate(WRONG_DECLARATION, "write {spaces}, or nothing for a generic pointer")
CHOOSE_OTHER_NAME = MessageTemplate(WRONG_DECLARATION, "choose another name")
WRITE_OTHER_LENGTHS = MessageTemplate(WRONG_DECLARATION, "write all other lengths")
WRITE_LENGTH = MessageTemplate(WRONG_DECLARATION, "write the number of elements in the brackets")
WRITE_LENGTH_OR_VALUES = MessageTemplate(WRONG_DECLARATION, "write a length, initial values, or `.extern`")
PASS_POINTER = MessageTemplate(WRONG_DECLARATION, "pass a pointer to the data")
TAKES_CALL = MessageTemplate(WRONG_DECLARATION, "it takes `{call}`")
A_VARIABLE = MessageTemplate(WRONG_DECLARATION, "a .{type} variable")
AN_ARRAY = MessageTemplate(WRONG_DECLARATION, "an array of .{type}")
A_VECTOR = MessageTemplate(WRONG_DECLARATION, "a vector of .{type}")
REGISTER_KIND = MessageTemplate(WRONG_DECLARATION, "a .{type} register")
NO_REGISTER = MessageTemplate(WRONG_DECLARATION, "no register")
LINKAGE_DIFFERS = MessageTemplate(WRONG_DECLARATION, "its linkage was {earlier}, and is {linkage}")
