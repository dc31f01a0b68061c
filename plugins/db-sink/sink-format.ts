import type { DedupRule, Engine, InsertMode, Precision } from '../database/index.ts';
import type { SinkOptions } from './options.ts';
import type { RecordDecoder } from './record-decoder.ts';
import type { FormatGrowth } from './table-options.ts';

/** The target database, as far as decoders need to know it. */
export interface SinkTarget {
  readonly engine: Engine;
  readonly database: string;
  /** True if rows of this line-protocol table get a primary tag derived from their tags. */
  readonly derivesPrimaryTag: (table: string) => boolean;
}

export interface SinkFormat {
  /** Supported units of times, in the order of error messages. Empty if `timestamp.precision` does not apply. */
  readonly precisions: readonly Precision[];
  /** Supported units in a database marked relational; `undefined` if it does not support the format. */
  readonly relationalPrecisions: readonly Precision[] | undefined;
  readonly growth: FormatGrowth;
  /** True if rows are lines or points, which `fitToTable` adapts to an existing table. */
  readonly fitsRows?: boolean;
  /** Determines what happens to rows with the same key unless `dedup.rule` is set; default `override`. */
  readonly dedupRule?: DedupRule;
  /** How rows that carry their own schema are written. */
  readonly insertMode?: (options: SinkOptions) => InsertMode;
  /** Problems with the options of this format, as pairs of option and reason. */
  readonly problems?: (options: SinkOptions) => [string, string][];
  /** `precision` is the user's setting. */
  readonly createDecoder: (options: SinkOptions, precision: Precision | undefined, target: SinkTarget) => RecordDecoder;
}
