/** Length above which `replaceAll` is too slow: it takes 0.1 µs per match, and there may be millions. */
const LONG = 100_000;

/** Doubles each `char` (one UTF-16 unit) in the text. */
export function doubled(text: string, char: string): string {
  if (text.length <= LONG || !text.includes(char)) return text.replaceAll(char, char + char);
  const from = unitsOf(text);
  const to = new Uint16Array(2 * from.length);
  const code = char.charCodeAt(0);
  let length = 0;
  for (const unit of from) {
    to[length++] = unit;
    if (unit === code) to[length++] = unit;
  }
  return textOf(to, length);
}

/** Replaces each pair of `char` (one UTF-16 unit) by a single one. */
export function undoubled(text: string, char: string): string {
  if (text.length <= LONG || !text.includes(char)) return text.replaceAll(char + char, char);
  const units = unitsOf(text);
  const code = char.charCodeAt(0);
  let length = 0;
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] ?? 0;
    units[length++] = unit;
    if (unit === code && units[at + 1] === code) at++;
  }
  return textOf(units, length);
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, 'utf16le');
  return units;
}

function textOf(units: Uint16Array, length: number): string {
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}
