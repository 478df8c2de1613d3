"""The commands. Each command reads its inputs, calls one function of the library, and prints the result."""
