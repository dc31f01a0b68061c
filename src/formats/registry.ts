import type { Decoder, EncodedTable, Precision, RowEncoder } from './format.ts';
import { createJsonDbEncoder, type JsonDbEncoderPolicy } from './json-db-encoder.ts';
import { JsonDbDecoder, type JsonDbPolicy } from './json-db.ts';
import { createLineLpEncoder, type LineLpEncoderPolicy } from './line-lp-encoder.ts';
import { LineLpDecoder, type LineLpPolicy } from './line-lp.ts';

/** A format that a sink reads, by its name in `protocol.type`; what its messages are like is spec/stream-connector.md's. */
export interface DecodedFormat<Policy> {
  /** Units that its times may have; the first is the default. */
  readonly precisions: readonly Precision[];
  /** Whether its messages say enough to create a missing table. */
  readonly createsTables: boolean;
  readonly create: (policy: Policy) => Decoder;
}

/** A format that a source writes, by its name in `out.format`. */
export interface EncodedFormat<Policy> {
  readonly create: (table: EncodedTable, policy?: Policy) => RowEncoder;
}

/** The formats of this version. Further ones (cdc_db, json_tsd, line_tsd, struct) join here. */
export const decodedFormats = {
  json_db: {
    precisions: ['ms', 'us', 'ns'],
    createsTables: true,
    create: (policy) => new JsonDbDecoder(policy),
  } satisfies DecodedFormat<JsonDbPolicy>,
  line_lp: {
    precisions: ['ns', 'us', 'ms'],
    createsTables: false,
    create: (policy) => new LineLpDecoder(policy),
  } satisfies DecodedFormat<LineLpPolicy>,
} as const;

export const encodedFormats = {
  json_db: { create: createJsonDbEncoder } satisfies EncodedFormat<JsonDbEncoderPolicy>,
  line_lp: { create: createLineLpEncoder } satisfies EncodedFormat<LineLpEncoderPolicy>,
} as const;

export type DecodedFormatName = keyof typeof decodedFormats;
export type EncodedFormatName = keyof typeof encodedFormats;
