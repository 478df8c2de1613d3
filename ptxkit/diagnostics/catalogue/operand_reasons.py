"""Why an operand or an argument does not fit: parts of messages about operands, symbols, constants and calls."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue.ptx1xx import WRONG_OPERANDS
from ptxkit.diagnostics.message import MessageTemplate

MUST_BE_QUALIFIED_PARAMETER = MessageTemplate(
    WRONG_OPERANDS, "must be a parameter of the kind that the state space names"
)
MUST_BE_REFERENCE_ALONE = MessageTemplate(
    WRONG_OPERANDS, "must be a {kind}, or a .u64 register with its handle, and nothing more"
)
MUST_BE_REFERENCE = MessageTemplate(
    WRONG_OPERANDS, "must be a .{kind} variable, or a .u64 register with the handle of one"
)
CONSTANT_ADDRESS = MessageTemplate(WRONG_OPERANDS, "is a constant address, which only the .local space has")
ADDRESS_IS_VECTOR_ELEMENT = MessageTemplate(
    WRONG_OPERANDS, "is an element of a vector, which cannot be an address: move it to a register first"
)
MUST_BE_DATA_ADDRESS = MessageTemplate(WRONG_OPERANDS, "must be an address of data")
MUST_BE_ADDRESS_IN_REGISTER = MessageTemplate(WRONG_OPERANDS, "must be an address in a register")
MUST_BE_GENERIC = MessageTemplate(
    WRONG_OPERANDS, "must be in the .global, .shared or .local space for a generic access"
)
MUST_BE_IN_SPACE = MessageTemplate(WRONG_OPERANDS, "must be in the .{space} space")
MUST_BE_WRITABLE_PARAMETER = MessageTemplate(
    WRONG_OPERANDS, "must be a parameter that can be written: a return parameter, or a .param variable of this body"
)
MUST_BE_READABLE_PARAMETER = MessageTemplate(
    WRONG_OPERANDS, "must be a parameter that can be read: return parameters are written only"
)
MUST_BE_ADDRESSABLE_PARAMETER = MessageTemplate(
    WRONG_OPERANDS, "must be a parameter whose address can be taken: not a .param variable of this body"
)
MUST_BE_ADDRESSABLE_VARIABLE = MessageTemplate(
    WRONG_OPERANDS, "must be a variable whose address can be taken: not a .param variable of this body"
)
LABEL_HAS_NO_ADDRESS = MessageTemplate(
    WRONG_OPERANDS, "must be a register, a constant, a variable or a function: a label has no address"
)
OPAQUE_ADDRESS_IS_U64 = MessageTemplate(
    WRONG_OPERANDS, "must be an address of data: that of an opaque reference is a .u64"
)
IS_POLICY = MessageTemplate(WRONG_OPERANDS, "is a policy to an assembler, which has a separate modifier")
COMPONENT_NEXT_TO_CONSTANT = MessageTemplate(WRONG_OPERANDS, "has a component of a vector and a constant")
MUST_HAVE_REGISTERS = MessageTemplate(WRONG_OPERANDS, "must have .{type} registers, and all are integer constants")
SPECIAL_REGISTER_NOT_READ = MessageTemplate(
    WRONG_OPERANDS, "is a special register, which must be moved to another one first"
)
REGISTER_CANNOT_HOLD_ADDRESS = MessageTemplate(WRONG_OPERANDS, "is an address, and a .{type} register cannot hold one")
REGISTER_IS_OTHER_OPERAND = MessageTemplate(
    WRONG_OPERANDS, "is an address, and a .{type} register is another operand to assemblers"
)
NO_ADDRESS = MessageTemplate(WRONG_OPERANDS, "is no address")
VECTOR_REGISTER_ELEMENT = MessageTemplate(
    WRONG_OPERANDS, "is an element of a vector register, which must be moved to another one first"
)
VECTOR_VARIABLE_ELEMENT = MessageTemplate(
    WRONG_OPERANDS, "is an element of a vector in memory, which must be loaded first"
)
SINK_HAS_NO_VALUE = MessageTemplate(WRONG_OPERANDS, "is the sink, which has no value")
NEGATED_TYPE_DIFFERS = MessageTemplate(
    WRONG_OPERANDS, "must be a .{type} register where it has a minus sign, and is .{actual}"
)
DATA_ADDRESS_NAMES_FUNCTION = MessageTemplate(WRONG_OPERANDS, "must be an address of data, and names a function")
NAMES_ADDRESS = MessageTemplate(WRONG_OPERANDS, "must be a .{type} register, and names an address")
TYPE_DIFFERS = MessageTemplate(WRONG_OPERANDS, "must be a .{type} register, and is .{actual}")
IS_SUM = MessageTemplate(WRONG_OPERANDS, "must be a .{type} register, and is a sum with a name")
NAMES_CODE = MessageTemplate(WRONG_OPERANDS, "must be a .{type} register, and names a place in the code")
SPECIAL_REGISTER_TYPE_DIFFERS = MessageTemplate(
    WRONG_OPERANDS, "must be of type .{type}, and the special register is .{actual}"
)
MUST_BE_INTEGER_CONSTANT = MessageTemplate(WRONG_OPERANDS, "must be an integer constant")
NOT_COMPUTED = MessageTemplate(WRONG_OPERANDS, "is an expression that no assembler computes")
INTEGER_FOR_FLOAT = MessageTemplate(WRONG_OPERANDS, "must be a .{type} constant such as {example}, and is an integer")
DOUBLE_FOR_SINGLE = MessageTemplate(
    WRONG_OPERANDS, "must be a .{type} constant such as 0f3F800000, and is one of double precision"
)
CONSTANT_FOR_REGISTER = MessageTemplate(WRONG_OPERANDS, "must be a .{type} register, and is a constant")
SINK_FOR_ELEMENT = MessageTemplate(WRONG_OPERANDS, "has the sink for an element")
CONSTANT_FOR_ELEMENT = MessageTemplate(WRONG_OPERANDS, "has a constant for an element")
MUST_BE_IN_BRACES = MessageTemplate(WRONG_OPERANDS, "must be registers in braces")
MUST_BE_REGISTER = MessageTemplate(WRONG_OPERANDS, "must be a .{type} register")
ELEMENT_OF_NO_ARRAY = MessageTemplate(WRONG_OPERANDS, "is an element of an operand that is not an array")
INDEX_OF_WRONG_TYPE = MessageTemplate(WRONG_OPERANDS, "has an index that is neither an integer register nor a constant")
EACH_MUST_BE = MessageTemplate(WRONG_OPERANDS, "{problem}; each must be a .{type} register")
ALL_INTEGER_CONSTANTS = MessageTemplate(WRONG_OPERANDS, "must be a .{type} register, and all are integer constants")
TWO_PRECISIONS = MessageTemplate(
    WRONG_OPERANDS, "begins with a constant of single precision, and has one of double; each must be a .{type} register"
)
EXPRESSION_FOR_ELEMENT = MessageTemplate(WRONG_OPERANDS, "has an expression for an element that no assembler computes")
ADDRESS_FOR_ELEMENT = MessageTemplate(WRONG_OPERANDS, "has an address for an element")
VECTOR_FOR_ELEMENT = MessageTemplate(WRONG_OPERANDS, "has a vector for an element")
PART_OF_OTHER_WIDTH = MessageTemplate(WRONG_OPERANDS, "has a part of an operand that is not a register of 32 bits")
ELEMENT_WIDTHS_DIFFER = MessageTemplate(WRONG_OPERANDS, "has elements of different widths, {types}")
BEGINS_WITH_CONSTANT = MessageTemplate(WRONG_OPERANDS, "begins with a constant")
ENDS_WITH_OTHER_WIDTH = MessageTemplate(
    WRONG_OPERANDS, "ends with an element of {bits} bits; each must be a .{type} register"
)
SPECIAL_REGISTER_NOT_WRITTEN = MessageTemplate(WRONG_OPERANDS, "has a special register, which cannot be written")
CONSTANT_NOT_WRITTEN = MessageTemplate(WRONG_OPERANDS, "has a constant, which cannot be written")
MUST_BE_CONSTANT = MessageTemplate(WRONG_OPERANDS, "must be {expected}, and is {value}")
BREAKS_RULE = MessageTemplate(WRONG_OPERANDS, "breaks the rule {rule}")
ARRAY_REQUIRED = MessageTemplate(WRONG_OPERANDS, "must be an array of .{type}, and is a single .{actual}")
ARGUMENT_DIFFERS = MessageTemplate(WRONG_OPERANDS, "must be {expected}, and is {actual}")
ARGUMENT_ALIGNMENT_DIFFERS = MessageTemplate(
    WRONG_OPERANDS, "must be aligned to {required} bytes, and is aligned to {actual}"
)
CONSTANT_FOR_ARGUMENT = MessageTemplate(WRONG_OPERANDS, "must be {expected}, and is a constant")
FLOAT_FOR_ARGUMENT = MessageTemplate(WRONG_OPERANDS, "must be a .{type}, and is a floating-point constant")
MUST_BE_NAME_OR_CONSTANT = MessageTemplate(WRONG_OPERANDS, "must be a name or a constant")
CANNOT_BE_LEFT_OUT = MessageTemplate(WRONG_OPERANDS, "cannot be left out")
MUST_BE_WHOLE_REGISTER = MessageTemplate(WRONG_OPERANDS, "must be a whole register: move the element to one first")
COPY_ARGUMENT_FIRST = MessageTemplate(
    WRONG_OPERANDS, "is {kind}; copy it to a .param variable of this body or to a register first"
)
ARGUMENT_OF_WRONG_KIND = MessageTemplate(
    WRONG_OPERANDS, "must be a register, a .param variable of this body or a constant, and is {kind}"
)
OPAQUE_NOT_ACCESSED = MessageTemplate(WRONG_OPERANDS, "is an opaque reference, which cannot be read or written")
MUST_BE_LABEL = MessageTemplate(WRONG_OPERANDS, "must be a label of this function")
MUST_BE_LIST_LABEL = MessageTemplate(WRONG_OPERANDS, "must be the label of a `.branchtargets` list above it")
MUST_BE_COUNT_IN_BRACES = MessageTemplate(WRONG_OPERANDS, "must be {count} registers in braces")
UNTYPED_PLACE_IN_MEMORY = MessageTemplate(
    WRONG_OPERANDS, "is a place in {space} memory, which an untyped 32-bit register holds"
)
PLACE_IN_MEMORY = MessageTemplate(WRONG_OPERANDS, "is a place in {space} memory, which a 32-bit integer register holds")
ELEMENTS_AND_CONSTANTS_DIFFER = MessageTemplate(
    WRONG_OPERANDS, "has elements of different types, {types} and constants"
)
ELEMENTS_DIFFER = MessageTemplate(WRONG_OPERANDS, "has elements of different types, {types}")
ADDRESS_FOR_VECTOR = MessageTemplate(WRONG_OPERANDS, "must be {count} registers in braces, and is an address")
REGISTER_FOR_VECTOR = MessageTemplate(WRONG_OPERANDS, "must be {count} registers in braces, and is .{type}")
FLOAT_OF_OTHER_WIDTH = MessageTemplate(
    WRONG_OPERANDS, "must be a .{type} constant, and is a floating-point one of another width"
)
FLOAT_FOR_INTEGER = MessageTemplate(WRONG_OPERANDS, "must be a .{type} constant, and is a floating-point one")
INTEGER_FOR_ARGUMENT = MessageTemplate(WRONG_OPERANDS, "must be a .{type}, and is an integer constant")
CONSTANT_FOR_PREDICATE = MessageTemplate(WRONG_OPERANDS, "must be a .{type}, and is a constant")
