"""Exact arithmetic on bit patterns, one element for each lane, in the formats of PTX.

The package depends on no instruction: a function has formats and rounding modes as arguments and computes the result of
IEEE 754, with one rounding. Only `error_bounds` concerns instructions that are not exact, and states their largest
errors.

The manual does not specify the following, which are defined here (`scripts/device_numbers` compares them with a GPU):

* NaN results of all formats but f64 are one pattern (`Format.nan`), whatever the operands are. Results of f64 keep the
  payload of the last operand that is a NaN, made quiet; without one they are 0xfff8000000000000. A quotient uses the
  first operand, and `fma` the second, else the third. `abs` and `neg` of f64 keep a NaN's sign. Conversions between f64
  and another format keep sign and payload.
* `.ftz` examines results that are rounded to a significand of full length: a result that is then below the smallest
  normal number becomes zero, even if rounding to the length of a subnormal number would yield the smallest normal
  number. Conversions from f32 to f16 flush nothing.
* `.sat` returns +0.0 for -0.0, as for all negative numbers; so does `.relu`.
* Without a rounding modifier a product and a sum are never fused.
* Conversions of NaNs of f64 to integers of 8 and 16 bits return the highest bit of that width.
* Conversions to scale factors (`ue8m0`) drop the sign.

Input and output: arrays of bit patterns. It imports no other package of the reference machine.
"""
