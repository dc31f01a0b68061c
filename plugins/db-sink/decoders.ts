import {
  decodedFormats,
  type DecodedFormatName,
  type Decoder,
  type Engine,
  type ParsedOptions,
  type Precision,
} from '../../src/index.ts';
import type { sinkOptions } from './options.ts';

type Options = ParsedOptions<typeof sinkOptions>;

/** The format by its name in `protocol.type`; `undefined` for a documented one that this version does not read. */
function formatOf(name: string) {
  return name in decodedFormats ? decodedFormats[name as DecodedFormatName] : undefined;
}

/** Why a documented format cannot be read; `undefined` when it can. */
export function unsupportedFormat(format: string): string | undefined {
  const known = Object.keys(decodedFormats).join(' and ');
  return formatOf(format) === undefined ? `this version reads ${known} only, not ${format}` : undefined;
}

/** Why a precision does not go with a format; `undefined` when it does. */
export function unsupportedPrecision(format: string, precision: string | null): string | undefined {
  const precisions: readonly string[] | undefined = formatOf(format)?.precisions;
  if (precision === null || precisions === undefined || precisions.includes(precision)) return undefined;
  return `${format} takes ${precisions.join(', ')}, not ${precision}`;
}

/** Why a database of this engine does not take a format; `undefined` when it does. */
export function refusedByEngine(format: string, engine: Engine): string | undefined {
  if (engine !== 'relational' || format === 'json_db') return undefined;
  return `${format} needs a time-series database, and this one is marked relational; use json_db`;
}

/** Whether a missing table can be made from the format's messages. */
export function mayCreateTables(format: string): boolean {
  return formatOf(format)?.createsTables ?? false;
}

/**
 * The decoder of a sink. In a relational database times are text (spec/stream-connector.md, `json_db`) and tables have no
 * tags of their own accord; an unmarked database takes both kinds of times.
 */
export function createSinkDecoder(
  options: Options,
  engine: Engine,
  line: { readonly derivesPrimaryTag: (table: string) => boolean; readonly now: () => number },
): Decoder {
  const name = options['protocol.type'];
  const precision = (options['timestamp.precision'] ?? formatOf(name)?.precisions[0] ?? 'ms') as Precision;
  if (name === 'line_lp') {
    return decodedFormats.line_lp.create({ precision, ...line });
  }
  const timestampsAs = { relational: 'string', 'time-series': 'integer', unmarked: 'either' } as const;
  return decodedFormats.json_db.create({
    precision,
    timestampsAs: timestampsAs[engine],
    tagsWhenAbsent: engine === 'relational' ? 'none' : 'table-name',
    unknownKeys: options['unknown.columns'] as 'fault' | 'ignore',
  });
}
