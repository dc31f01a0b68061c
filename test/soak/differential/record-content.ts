import type { ProducedRecord } from '../../../src/kafka/api.ts';
import { Draw } from '../../support/random.ts';

const HEADER_KEYS = ['', 'h', 'trace.id', 'äß€😀', 'x'.repeat(300)];
const NOISE_BYTES = 6_000_000;

export interface RecordShape {
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Maximum number of headers. */
  readonly headers: number;
  /** Share of keys and values that are null. */
  readonly nulls: number;
  /** Share of a value that is incompressible. */
  readonly noise: number;
}

let noise: Buffer | undefined;

export function drawRecord(draw: Draw, shape: RecordShape): Pick<ProducedRecord, 'key' | 'value' | 'headers'> {
  const { minBytes, maxBytes, nulls } = shape;
  const size = minBytes + Math.floor((draw.between(0, 1_000) / 1_000) ** 2 * (maxBytes - minBytes));
  const headers = Array.from({ length: draw.between(0, shape.headers) }, () => {
    return { key: draw.pick(HEADER_KEYS), value: draw.chance(0.25) ? null : bytes(draw, draw.between(0, 30), 1) };
  });
  return {
    key: draw.chance(nulls) ? null : bytes(draw, draw.between(0, 20), 1),
    value: draw.chance(nulls) ? null : bytes(draw, size, shape.noise),
    headers,
  };
}

function bytes(draw: Draw, size: number, part: number): Buffer {
  const from = noise ?? (noise = makeNoise());
  const random = Math.round(size * part);
  const start = draw.between(0, from.length - random);
  if (part === 1) return from.subarray(start, start + size);
  const all = Buffer.alloc(size, 'v');
  from.copy(all, 0, start, start + random);
  return all;
}

function makeNoise(): Buffer {
  const draw = new Draw(1);
  const all = Buffer.alloc(NOISE_BYTES);
  for (let at = 0; at + 4 <= all.length; at += 4) all.writeUInt32LE(draw.between(0, 2 ** 32 - 1), at);
  return all;
}
