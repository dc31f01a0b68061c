import { createDecoder, type Decoder, type Engine, type ParsedOptions, type Precision } from '../../src/index.ts';
import type { sinkOptions } from './options.ts';

type Options = ParsedOptions<typeof sinkOptions>;

interface SinkFormat {
  /** The first is the default. */
  readonly precisions: readonly Precision[];
  /** Whether its messages say enough to create their table. */
  readonly createsTables: boolean;
}

/** The formats this version reads, with what spec/stream-connector.md says of each. */
const FORMATS: Readonly<Record<string, SinkFormat>> = {
  json_db: { precisions: ['ms', 'us', 'ns'], createsTables: true },
  line_lp: { precisions: ['ns', 'us', 'ms'], createsTables: false },
};

/** Why a documented format cannot be read; `undefined` when it can. */
export function unsupportedFormat(format: string): string | undefined {
  return format in FORMATS ? undefined : `this version reads ${Object.keys(FORMATS).join(' and ')} only, not ${format}`;
}

/** Why a precision does not go with a format; `undefined` when it does. */
export function unsupportedPrecision(format: string, precision: string | null): string | undefined {
  const precisions: readonly string[] = FORMATS[format]?.precisions ?? [];
  if (precision === null || precisions.length === 0 || precisions.includes(precision)) return undefined;
  return `${format} takes ${precisions.join(', ')}, not ${precision}`;
}

export function mayCreateTables(format: string): boolean {
  return FORMATS[format]?.createsTables ?? false;
}

/**
 * The decoder of a sink. In a relational database times are text (spec/stream-connector.md, `json_db`) and tables have no
 * tags of their own accord; an unmarked database takes both kinds of times.
 */
export function createSinkDecoder(
  options: Options,
  engine: Engine,
  derivesPrimaryTag: (table: string) => boolean,
): Decoder {
  const format = options['protocol.type'];
  const precision = (options['timestamp.precision'] ?? FORMATS[format]?.precisions[0] ?? 'ms') as Precision;
  if (format === 'line_lp') {
    return createDecoder.line_lp({ precision, now: () => Date.now() * 1000, derivesPrimaryTag });
  }
  return createDecoder.json_db({
    precision: engine === 'relational' ? 'ms' : precision,
    timestampsAs: engine === 'relational' ? 'string' : engine === 'time-series' ? 'integer' : 'either',
    tagsWhenAbsent: engine === 'relational' ? 'none' : 'table-name',
    unknownKeys: options['unknown.columns'] as 'fault' | 'ignore',
  });
}
