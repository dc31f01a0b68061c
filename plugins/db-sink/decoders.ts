import {
  decodedChangeFormats,
  decodedFormats,
  decodedPointFormats,
  StructDecoder,
  type Engine,
  type NanosecondRule,
  type Precision,
  type ValueType,
} from '../database/index.ts';
import type { SinkOptions } from './options.ts';
import { MessageDecoder, type RecordDecoder } from './record-decoder.ts';
import type { SinkFormat, SinkTarget } from './sink-format.ts';
import { insertModeOf, structPolicyOf, structProblems } from './struct-options.ts';
import { growthOf } from './table-options.ts';

const TIMESTAMPS_AS = { relational: 'string', 'time-series': 'integer', unmarked: 'either' } as const;

/**
 * Times are text in a database marked relational, and integers in one marked time-series. A database without a mark
 * accepts both text and integers (docs/sink.md#tables-and-rows).
 */
const jsonDb: SinkFormat = {
  precisions: decodedFormats.json_db.precisions,
  relationalPrecisions: ['ms'],
  growth: { create: true, evolve: 'none' },
  createDecoder: (options, precision, { engine }) =>
    new MessageDecoder(() =>
      decodedFormats.json_db.create({
        precision: precision ?? 'ms',
        timestampsAs: TIMESTAMPS_AS[engine],
        tagsWhenAbsent: engine === 'relational' ? 'none' : 'table-name',
        unknownKeys: options['unknown.columns'] as 'fault' | 'ignore' | 'add',
      }),
    ),
};

function nanosecondsOf(options: SinkOptions): NanosecondRule {
  return options.nanoseconds as NanosecondRule;
}

/** Name of the time column of tables that the sink creates for line protocol. Existing tables may use other names. */
const LINE_TIME_COLUMN = 'k_timestamp';

const lineLp: SinkFormat = {
  precisions: decodedFormats.line_lp.precisions,
  relationalPrecisions: undefined,
  growth: { create: false, evolve: 'none' },
  dedupRule: 'merge',
  fitsRows: true,
  createDecoder: (options, precision, { derivesPrimaryTag }) => {
    const { create, add, widen } = growthOf(options, lineLp.growth);
    return new MessageDecoder(
      (now) =>
        decodedFormats.line_lp.create({
          precision: precision ?? 'ns',
          now,
          derivesPrimaryTag,
          timeColumn: LINE_TIME_COLUMN,
          stringEscapes: 'documented',
          describesTables: create || add || widen,
          keepsNanoseconds: options.nanoseconds !== 'floor',
        }),
      nanosecondsOf(options),
    );
  },
};

function points(name: 'json_tsd' | 'line_tsd'): SinkFormat {
  return {
    precisions: decodedPointFormats[name].precisions,
    relationalPrecisions: undefined,
    growth: { create: true, evolve: 'widen' },
    fitsRows: true,
    createDecoder: (options, precision) =>
      new MessageDecoder(
        () =>
          decodedPointFormats[name].create({
            precision: precision as 's' | 'ms' | undefined,
            valueType: options['value.type'] as ValueType,
            keepsNanoseconds: options.nanoseconds !== 'floor',
          }),
        nanosecondsOf(options),
      ),
  };
}

const cdcDb: SinkFormat = {
  precisions: decodedChangeFormats.cdc_db.precisions,
  relationalPrecisions: undefined,
  growth: 'none',
  createDecoder: (_options, precision, { database }) =>
    new MessageDecoder(() => decodedChangeFormats.cdc_db.create({ precision: precision ?? 'ms', database })),
};

const struct: SinkFormat = {
  precisions: [],
  relationalPrecisions: [],
  growth: { create: false, evolve: 'none' },
  insertMode: insertModeOf,
  problems: structProblems,
  createDecoder: (options) => new StructDecoder(structPolicyOf(options)),
};

const sinkFormats: Readonly<Record<string, SinkFormat>> = {
  json_db: jsonDb,
  json_tsd: points('json_tsd'),
  line_tsd: points('line_tsd'),
  line_lp: lineLp,
  cdc_db: cdcDb,
  struct,
};

/** Returns the format of `protocol.type`, which the validator limits to known names. */
export function sinkFormat(name: string): SinkFormat {
  const format = sinkFormats[name];
  if (format === undefined) throw new Error(`unknown format ${name}`);
  return format;
}

export function createSinkDecoder(options: SinkOptions, target: SinkTarget): RecordDecoder {
  const precision = (options['timestamp.precision'] ?? undefined) as Precision | undefined;
  return sinkFormat(options['protocol.type']).createDecoder(options, precision, target);
}

/** Returns why a format does not support the precision; `undefined` if it does. */
export function unsupportedPrecision(name: string, precision: string | null): string | undefined {
  const precisions: readonly string[] = sinkFormat(name).precisions;
  if (precision === null || precisions.length === 0 || precisions.includes(precision)) return undefined;
  return `${name} supports ${precisions.join(', ')}, not ${precision}`;
}

/** Returns the settings that a database of this engine does not support, as pairs of option and reason. */
export function refusedByEngine(options: SinkOptions, engine: Engine): [string, string][] {
  if (engine !== 'relational') return [];
  const name = options['protocol.type'];
  const precision = options['timestamp.precision'];
  const precisions: readonly string[] | undefined = sinkFormat(name).relationalPrecisions;
  if (precisions === undefined) {
    return [
      [
        'protocol.type',
        `${name} requires a time-series database, but this one is marked relational; use json_db or struct`,
      ],
    ];
  }
  if (precision === null || precisions.length === 0 || precisions.includes(precision)) return [];
  const allowed = precisions.join(', ');
  return [['timestamp.precision', `in a relational database, ${name} supports ${allowed} only, not ${precision}`]];
}
