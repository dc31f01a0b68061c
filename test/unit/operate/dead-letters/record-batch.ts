import { writeBatch } from '../../../../src/kafka/records/record-batch-writer.ts';
import type { RecordBlock } from '../../../../src/kafka/records/record-block.ts';
import { RecordSet } from '../../../../src/kafka/records/record-set.ts';

/** The content of a dead-letter record. Absent members have no header. */
export interface GivenLetter {
  readonly value?: string;
  readonly timestamp?: number;
  readonly headers: readonly (readonly [key: string, value: string | null])[];
}

/** As a task writes them; `own`: what Sluice adds. */
export function contextHeaders(
  context: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>> = {},
): [string, string][] {
  return [
    ...Object.entries(context).map(([key, value]): [string, string] => [`__connect.errors.${key}`, value]),
    ...Object.entries(own).map(([key, value]): [string, string] => [`sluice.${key}`, value]),
  ];
}

/** Letters of topic `dead`, partition 0, from offset 0 on, as a broker packs them. */
export function letterBlock(letters: readonly GivenLetter[]): RecordBlock {
  const records = letters.map(({ value = 'v', timestamp = 1000, headers }) => ({
    ...{ topic: 'dead', partition: 0, key: null, timestamp },
    value: Buffer.from(value),
    headers: headers.map(([key, text]) => ({ key, value: text === null ? null : Buffer.from(text) })),
  }));
  const batch = { producerId: -1, producerEpoch: 0, baseSequence: 0 };
  const bytes = writeBatch(records, { topic: 'dead', compression: 'none', nowMs: 5000, ...batch });
  const options = { checkCrcs: true, aborted: undefined, maxUnpackedBytes: 1_000_000 };
  const block = new RecordSet({ topic: 'dead', partition: 0, bytes, fetchOffset: 0 }, options).readBlock(10_000);
  if (block === undefined) throw new Error('There are no letters');
  return block;
}
