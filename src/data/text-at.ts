/**
 * Whether `expected` stands at `position` of `text`. V8 compares equally long strings by memory, but walks through `startsWith`
 * and `endsWith` character by character: 0.06 µs to 0.9 µs for 280 characters.
 */
export function standsAt(text: string, expected: string, position: number): boolean {
  return text.slice(position, position + expected.length) === expected;
}
