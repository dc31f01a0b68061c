import { decodedFormats, type Precision, type StringEscapes } from '../../database/index.ts';
import { TIME_COLUMN } from './store.ts';

/** Total number of decoders that are kept between requests. Each caches up to 20,000 tag sets (about 10 MB). */
const MAX_IDLE = 4;

interface DecoderKind {
  readonly precision: Precision;
  readonly stringEscapes: StringEscapes;
  readonly keepsNanoseconds: boolean;
}

/** A decoder that caches the tag sets of earlier bodies. To parse and hash 5,000 tag sets takes 55 ms; with the cache, 5 ms. */
export class LineDecoder {
  readonly kind: DecoderKind;
  /** Time of lines without a time. Like the other times, it is adjusted after decoding, see `LineTimes.nowFactor`. */
  nowMicros = 0;
  readonly decoder;

  constructor(kind: DecoderKind) {
    this.kind = kind;
    this.decoder = decodedFormats.line_lp.create({
      ...kind,
      now: () => this.nowMicros,
      timeColumn: TIME_COLUMN,
      derivesPrimaryTag: () => true,
      describesTables: true,
    });
  }
}

const idle: LineDecoder[] = [];

/** Borrows a decoder for one body. The caller must return it after reading. */
export function borrowDecoder(kind: DecoderKind, nowMicros: number): LineDecoder {
  const index = idle.findIndex(
    (known) =>
      known.kind.precision === kind.precision &&
      known.kind.stringEscapes === kind.stringEscapes &&
      known.kind.keepsNanoseconds === kind.keepsNanoseconds,
  );
  const [known] = index < 0 ? [] : idle.splice(index, 1);
  const borrowed = known ?? new LineDecoder(kind);
  borrowed.nowMicros = nowMicros;
  return borrowed;
}

export function giveBackDecoder(borrowed: LineDecoder): void {
  // An empty message releases the last body, and the rows that were not taken because the body was truncated.
  borrowed.decoder.add('', { kind: 'line', line: 1 });
  borrowed.decoder.take();
  idle.unshift(borrowed);
  idle.length = Math.min(idle.length, MAX_IDLE);
}
