/** Maximum number of elements. A record with a larger array would not fit into a topic. */
const MAX_ELEMENTS = 10_000_000;

/**
 * Reads PostgreSQL's text of a one-dimensional array (`{a,"b c",NULL}`) in linear time. Arrays with several dimensions, or
 * with lower bounds other than 1, become a flat list of their elements.
 * @throws Error if the text is not an array
 */
export function parseArray(text: string): (string | null)[] {
  const start = text.startsWith('[') ? text.indexOf('=') + 1 : 0;
  if (text[start] !== '{' || !text.endsWith('}')) throw new Error('The value is not an array');
  const items: (string | null)[] = [];
  let at = start;
  while (at < text.length) {
    const character = text[at];
    if (character === '{' || character === '}' || character === ',') {
      at += 1;
      continue;
    }
    const end = character === '"' ? quotedEnd(text, at) : plainEnd(text, at);
    const item = text.slice(at, end);
    if (character === '"') items.push(item.slice(1, -1).replace(/\\(.)/gs, '$1'));
    else items.push(item === 'NULL' ? null : item);
    if (items.length > MAX_ELEMENTS) throw new Error(`The array has more than ${String(MAX_ELEMENTS)} elements`);
    at = end;
  }
  return items;
}

function quotedEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  throw new Error('The value is not an array');
}

function plainEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== ',' && text[at] !== '}') at += 1;
  return at;
}
