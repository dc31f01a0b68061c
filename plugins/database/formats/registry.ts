import { CdcDbDecoder, type CdcDbPolicy } from './json-db/cdc-db.ts';
import type { Decoder, EncodedTable, Precision, RowEncoder } from './format.ts';
import { createJsonDbEncoder, type JsonDbEncoderPolicy } from './json-db/json-db-encoder.ts';
import { JsonDbDecoder, type JsonDbPolicy } from './json-db/json-db.ts';
import { createJsonTsdEncoder, type PointEncoderPolicy } from './tsd/json-tsd-encoder.ts';
import { JsonTsdDecoder } from './tsd/json-tsd.ts';
import { createLineLpEncoder, type LineLpEncoderPolicy } from './line-lp/line-lp-encoder.ts';
import { LineLpDecoder, type LineLpPolicy } from './line-lp/line-lp.ts';
import { createLineTsdEncoder } from './tsd/line-tsd-encoder.ts';
import { LineTsdDecoder } from './tsd/line-tsd.ts';
import type { PointPolicy } from './tsd/point-tables.ts';

/** A format that the sink reads (docs/formats.md#messages-that-the-sink-reads). `protocol.type` names it. */
export interface DecodedFormat<Policy> {
  /** Supported units of times; the first is the default, except in the formats of points. */
  readonly precisions: readonly Precision[];
  readonly create: (policy: Policy) => Decoder;
}

/** A format that the source writes. `out.format` names it. */
export interface EncodedFormat<Policy> {
  /** Supported units of times; the first is the default. */
  readonly precisions: readonly [Precision, ...Precision[]];
  /** True if a row may produce several lines. Each is a message, unless records may have several rows. */
  readonly rowsAreLines: boolean;
  /** True if messages are JSON. */
  readonly isJson: boolean;
  readonly create: (table: EncodedTable, policy?: Policy) => RowEncoder;
}

/** Formats whose rows are written to the table named in the batch. */
export const decodedFormats = {
  json_db: {
    precisions: ['ms', 'us', 'ns'],
    create: (policy) => new JsonDbDecoder(policy),
  } satisfies DecodedFormat<JsonDbPolicy>,
  line_lp: {
    precisions: ['ns', 'us', 'ms'],
    create: (policy) => new LineLpDecoder(policy),
  } satisfies DecodedFormat<LineLpPolicy>,
} as const;

export const encodedFormats = {
  json_db: {
    precisions: ['ms', 'us', 'ns'],
    rowsAreLines: false,
    isJson: true,
    create: createJsonDbEncoder,
  } satisfies EncodedFormat<JsonDbEncoderPolicy>,
  json_tsd: {
    precisions: ['ms', 's'],
    rowsAreLines: false,
    isJson: true,
    create: createJsonTsdEncoder,
  } satisfies EncodedFormat<PointEncoderPolicy>,
  line_tsd: {
    precisions: ['ms', 's'],
    rowsAreLines: true,
    isJson: false,
    create: createLineTsdEncoder,
  } satisfies EncodedFormat<PointEncoderPolicy>,
  line_lp: {
    precisions: ['ns', 'us', 'ms'],
    rowsAreLines: false,
    isJson: false,
    create: createLineLpEncoder,
  } satisfies EncodedFormat<LineLpEncoderPolicy>,
} as const;

/**
 * Formats of points. Batches are named after metrics, which metric-target.ts maps to tables before rows are written.
 * Without a precision, the unit of a time follows from its number of digits.
 */
export const decodedPointFormats = {
  json_tsd: {
    precisions: ['s', 'ms'],
    create: (policy) => new JsonTsdDecoder(policy),
  } satisfies DecodedFormat<PointPolicy>,
  line_tsd: {
    precisions: ['s', 'ms'],
    create: (policy) => new LineTsdDecoder(policy),
  } satisfies DecodedFormat<PointPolicy>,
} as const;

/** Formats whose messages contain statements as well as rows. `partsOf` (format.ts) returns both in the order of the messages. */
export const decodedChangeFormats = {
  cdc_db: {
    precisions: ['ms', 'us', 'ns'],
    create: (policy) => new CdcDbDecoder(policy),
  } satisfies DecodedFormat<CdcDbPolicy>,
} as const;

export type DecodedFormatName = keyof typeof decodedFormats;
export type EncodedFormatName = keyof typeof encodedFormats;
