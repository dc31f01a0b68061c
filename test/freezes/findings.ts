import type { WorstText } from './texts.ts';

/** A text that once stopped a worker, with the name of what read it. */
export interface KnownFreeze {
  readonly id: string;
  readonly scanner: string;
  readonly text: WorstText;
}

function between(before: string, piece: string, after: string): WorstText {
  return {
    name: `${JSON.stringify(piece)} again and again between ${JSON.stringify(before)} and ${JSON.stringify(after)}`,
    of: (length) => before + piece.repeat(Math.ceil(length / piece.length)) + after,
  };
}

export const KNOWN_FREEZES: readonly KnownFreeze[] = [
  { id: 'S1', scanner: 'json_db column type', text: between('A', ' ', '!') },
  { id: 'S1', scanner: 'cdc_db column type', text: between('A', ' ', '!') },
  { id: 'S1', scanner: 'header text', text: between('', '1', 'x') },
  { id: 'S1', scanner: 'Cast to float64', text: between('', '1', 'x') },
  { id: 'S1', scanner: 'Cast to float64', text: between('0x', '1', 'x') },
  { id: 'S1', scanner: 'JsonConverter Decimal in Base64', text: between('', '\u007f', '') },
  { id: 'S3', scanner: 'Authorization', text: between('Basic a', ' ', 'b') },
  { id: 'S4', scanner: 'InfluxQL', text: between('"', '\\"', '') },
  { id: 'S5', scanner: 'variables', text: between('', '${:', '') },
  { id: 'S5', scanner: 'option of type LIST', text: between('a', ' ', 'b') },
];
