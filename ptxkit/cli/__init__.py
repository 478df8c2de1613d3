"""The commands. Each is a thin shell over the library: it reads its inputs, calls one function, renders the answer."""
