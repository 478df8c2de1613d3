"""Exact arithmetic on bit patterns, one element a lane, in the formats of PTX.

Nothing here knows an instruction: a function takes formats and rounding modes and does what IEEE 754 says, with one
rounding. `error_bounds` alone is about instructions that are not exact, and says how far they may be off.

What the manual leaves open, and what is done here (`scripts/device_numbers` compares it with a GPU):

* NaN results of all formats but f64 are one pattern (`Format.nan`), whatever the operands. Results of f64 keep the
  payload of the last operand that is a NaN, made quiet; without one they are 0xfff8000000000000. A quotient takes the
  first, `fma` the second, else the third. `abs` and `neg` of f64 leave a NaN's sign. Conversions between f64 and
  another format keep sign and payload.
* `.ftz` looks at results rounded to a significand of full length: what is below the smallest normal number then is a
  zero, though rounding to a subnormal number's length would make that number of it. Conversions from f32 to f16 flush
  nothing.
* `.sat` makes +0.0 of -0.0, as of all negative numbers; so does `.relu`.
* Without a rounding modifier a product and a sum are never fused.
* Conversions of NaNs of f64 to integers of 8 and 16 bits give the highest bit of that width.
* Scale factors (`ue8m0`) drop the sign of what becomes one.
"""
