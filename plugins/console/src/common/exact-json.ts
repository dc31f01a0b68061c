/** A text, or a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|-?\d[\d.eE+-]*/gs;
const INTEGER = /^-?\d+$/;
/** Stands before the digits of an integer while it is a text; of the private use area. */
const MARK = '\ue000';

/** JSON with every digit of its integers: those beyond what a number holds are `bigint`. */
export function parseExact(text: string): unknown {
  const marked = text.replace(TOKEN, (token) => (isLarge(token) ? `"${MARK}${token}"` : token));
  return JSON.parse(marked, (_, value: unknown) => (isMarked(value) ? BigInt(value.slice(MARK.length)) : value));
}

/** JSON of a value that may have `bigint`. */
export function exactText(value: unknown, indent?: number): string {
  const marked = (_: string, each: unknown): unknown => (typeof each === 'bigint' ? `${MARK}${String(each)}` : each);
  return JSON.stringify(value, marked, indent).replace(TOKEN, (token) => {
    const text = token.slice(1, -1);
    return token.startsWith('"') && isMarked(text) ? text.slice(MARK.length) : token;
  });
}

function isLarge(token: string): boolean {
  return INTEGER.test(token) && !Number.isSafeInteger(Number(token));
}

function isMarked(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(MARK) && INTEGER.test(value.slice(MARK.length));
}
