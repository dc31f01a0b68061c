import type { DedupRule, Engine, InsertMode, Precision } from '../database/index.ts';
import type { SinkOptions } from './options.ts';
import type { RecordDecoder } from './record-decoder.ts';
import type { FormatGrowth } from './table-options.ts';

/** Where a sink writes, as far as its decoder must know. */
export interface SinkPlace {
  readonly engine: Engine;
  /** Name of the database. */
  readonly database: string;
  /** Whether rows of this line-protocol table get a primary tag derived from their tags. */
  readonly derivesPrimaryTag: (table: string) => boolean;
}

/** A value of `protocol.type`. */
export interface SinkFormat {
  /** Units that times may have; the first one is the default. Empty: `timestamp.precision` says nothing of it. */
  readonly precisions: readonly Precision[];
  /** The same in a database marked relational; `undefined` when it refuses the format. */
  readonly relationalPrecisions: readonly Precision[] | undefined;
  readonly growth: FormatGrowth;
  /** Rows are lines or points, which know nothing of their table but names; see `fitToTable`. */
  readonly fitsRows?: boolean;
  /** What its rows do to rows with the same key unless `dedup.rule` says so; default `override`. */
  readonly dedupRule?: DedupRule;
  /** What its rows do where they say themselves which columns they have. */
  readonly insertMode?: (options: SinkOptions) => InsertMode;
  /** What is wrong with its own options, as pairs of option and reason. */
  readonly problems?: (options: SinkOptions) => [string, string][];
  /** `precision` is what the user set. */
  readonly createDecoder: (options: SinkOptions, precision: Precision | undefined, place: SinkPlace) => RecordDecoder;
}
