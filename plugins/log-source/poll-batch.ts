import { PackedHeaders, type JsonEncoding, type PolledRecord, type SourceBlock } from '../../src/index.ts';
import type { ChangeRecords } from './change-records.ts';
import type { Confirmations } from './confirmations.ts';
import type { OpenStream } from './open-stream.ts';
import { decodeLogMessage } from './pgoutput.ts';
import { toOffset, wholeBefore, type LogPosition } from './position.ts';
import { RecordBlocks } from './record-blocks.ts';

export type PolledPart = PolledRecord | SourceBlock;

const NO_HEADERS = new PackedHeaders([]);

/** The records of one poll, with the LSNs that may be confirmed to the server once the records are stored. */
export class RecordBatch {
  readonly parts: PolledPart[] = [];
  readonly #groups: { readonly parts: readonly PolledPart[]; readonly whole: bigint | undefined }[] = [];
  /** The number of records and offsets, including the records in blocks. */
  size = 0;

  /** @param whole LSN; the records come after all transactions that committed before it */
  add(parts: readonly PolledPart[], whole: bigint | undefined): void {
    if (parts.length === 0) return;
    for (const part of parts) {
      this.parts.push(part);
      this.size += 'packed' in part ? part.packed.length : 1;
    }
    this.#groups.push({ parts, whole });
  }

  register(confirmations: Confirmations): void {
    for (const { parts, whole } of this.#groups) confirmations.sent(parts, whole ?? 0n);
  }
}

/** Creates the blocks of a poll, with the headers of all records. */
export function recordBlocks({ partition, headers }: ChangeRecords, json: JsonEncoding | undefined): RecordBlocks {
  return new RecordBlocks(partition, (topic) => json?.headers(topic, headers) ?? NO_HEADERS);
}

/** Takes messages from the stream until there are `most` records or no message is queued. */
export async function readChanges(
  { stream, reader }: OpenStream,
  most: number,
  blocks: RecordBlocks,
): Promise<RecordBatch> {
  const batch = new RecordBatch();
  let blocksFrom = reader.position;
  /** The position after the last record in blocks; `undefined` while this is the position of the reader. */
  let blocksTo: LogPosition | undefined;
  const takeBlocks = (): void => {
    if (blocks.count === 0) return;
    const whole = wholeBefore(blocksFrom);
    batch.add(blocks.take(toOffset(blocksFrom), toOffset(blocksTo ?? reader.position)), whole);
  };
  for (let count = 0; count < most && (count === 0 || stream.hasMessages); count = batch.size + blocks.count) {
    const chunk = stream.take();
    if (chunk === undefined) break;
    if (blocks.count === 0) blocksFrom = reader.position;
    if (reader.pack(chunk, blocks)) {
      blocksTo = undefined;
      continue;
    }
    const before = reader.position;
    blocksTo ??= before;
    const message = decodeLogMessage(chunk.bytes.subarray(chunk.start, chunk.end));
    const records = await reader.recordsOf(message, chunk.lsn);
    if (records.length === 0) continue;
    takeBlocks();
    batch.add(records, wholeBefore(before));
  }
  takeBlocks();
  reader.reportTime();
  return batch;
}
