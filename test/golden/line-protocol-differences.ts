/**
 * Cases of the public corpus where this decoder differs on purpose: the rule of the documented dialect, then case ids.
 * None of the published half needs one; a case with a suffix i16, i32, i64, f32 or f64, a single-quoted string or `L"…"`
 * would be listed here.
 */
export const DECODE_DIFFERENCES: Readonly<Record<string, readonly string[]>> = {};
