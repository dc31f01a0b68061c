/** Version ranges of `*.plugin.version` options: `1.0` (exactly that), `[1.0,2.0)`, `(,1.5]`, several with commas. */
export interface VersionRange {
  /** Text in messages; a single version is shown as a range. */
  readonly text: string;
  includes(version: string): boolean;
}

const PART = /([[(])([^,[\]()]*)(?:(,)([^,[\]()]*))?([\])])\s*(?:,\s*(?=[[(]))?/y;

/** Longer texts are rejected. */
const MAX_LENGTH = 10_000;

/** `undefined` if the text is not a range, or has more than 10,000 characters. */
export function parseVersionRange(text: string): VersionRange | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const given = text.trim();
  if (/^[^,[\]()\s]+$/.test(given))
    return { text: `[${given},${given}]`, includes: (version) => compareVersions(version, given) === 0 };
  const parts: ((version: string) => boolean)[] = [];
  for (let at = 0; at < given.length;) {
    PART.lastIndex = at;
    const match = PART.exec(given);
    const [whole = '', open = '', low = '', comma, high = '', close = ''] = match ?? [];
    const [from, to] = [low.trim(), high.trim()];
    if (match === null || /\s/.test(from) || /\s/.test(to)) return undefined;
    parts.push(inPart(open, from, comma !== undefined, to, close));
    at += whole.length;
  }
  return parts.length === 0 ? undefined : { text: given, includes: (version) => parts.some((part) => part(version)) };
}

function inPart(open: string, low: string, isPair: boolean, high: string, close: string): (version: string) => boolean {
  if (!isPair) return (version) => compareVersions(version, low) === 0;
  return (version) => {
    const fromLow = low === '' ? 1 : compareVersions(version, low);
    const toHigh = high === '' ? -1 : compareVersions(version, high);
    return (open === '[' ? fromLow >= 0 : fromLow > 0) && (close === ']' ? toHigh <= 0 : toHigh < 0);
  };
}

/** Compares numeric parts by value, and other parts as text. A version with a qualifier (`-SNAPSHOT`) precedes its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionParts(a), versionParts(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const order = compareParts(left[index] ?? '0', right[index] ?? '0');
    if (order !== 0) return order;
  }
  return 0;
}

function versionParts(version: string): string[] {
  return version.toLowerCase().split(/[.\-_]|(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)/);
}

function compareParts(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) return Math.sign(Number(a) - Number(b));
  if (aIsNumber !== bIsNumber) return aIsNumber ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}
