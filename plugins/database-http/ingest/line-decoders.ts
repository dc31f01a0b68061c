import { decodedFormats, type Precision } from '../../../src/index.ts';
import { TIME_COLUMN } from './store.ts';

/** Decoders kept between requests, all together: each remembers up to 20,000 tag sets (about 10 MB). */
const MAX_IDLE = 4;

/** A decoder that remembers the tag sets of earlier bodies: 5,000 new ones take 55 ms to read and hash, known ones 5 ms. */
export class LineDecoder {
  readonly precision: Precision;
  /** Microseconds since the epoch for lines without a time. */
  nowMicros = 0;
  readonly decoder;

  constructor(precision: Precision) {
    this.precision = precision;
    this.decoder = decodedFormats.line_lp.create({
      precision,
      now: () => this.nowMicros,
      timeColumn: TIME_COLUMN,
      derivesPrimaryTag: () => true,
      describesTables: true,
    });
  }
}

const idle: LineDecoder[] = [];

/** A decoder for one body; to be given back when nothing reads from it any more. */
export function borrowDecoder(precision: Precision, nowMicros: number): LineDecoder {
  const index = idle.findIndex((decoder) => decoder.precision === precision);
  const decoder = index < 0 ? new LineDecoder(precision) : idle.splice(index, 1)[0];
  const borrowed = decoder ?? new LineDecoder(precision);
  borrowed.nowMicros = nowMicros;
  return borrowed;
}

export function giveBackDecoder(borrowed: LineDecoder): void {
  // Lets go of the last body, and of rows that nobody took because it broke off.
  borrowed.decoder.add('', { kind: 'line', line: 1 });
  borrowed.decoder.take();
  idle.unshift(borrowed);
  idle.length = Math.min(idle.length, MAX_IDLE);
}
