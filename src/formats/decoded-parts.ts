import type { Decoded, DecodedPart } from './format.ts';

/** What was decoded as parts, in order, whether or not there are statements. */
export function partsOf(decoded: Decoded): readonly DecodedPart[] {
  return decoded.parts ?? decoded.rows.map((rows) => ({ kind: 'rows', rows }));
}
