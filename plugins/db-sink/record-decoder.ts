import { DataError, plainJson, type SinkRecord, type SinkRecordBlock } from '../../src/index.ts';
import {
  NanosecondSpread,
  type Decoded,
  type Decoder,
  type Fault,
  type NanosecondRule,
  type Origin,
} from '../database/index.ts';

/**
 * Collects records into rows, like `Decoder` does for messages. It uses a message format, or the schemas of the
 * records.
 */
export interface RecordDecoder {
  /** Never throws for invalid data: a record that cannot be read becomes a fault with its origin. */
  add(record: SinkRecord, origin: Origin): void;
  /**
   * Adds the records of a block from index `from` up to `to` (exclusive), as far as they can be read in place. Returns
   * the index of the first record that must be added separately; `to` if there is no such record.
   */
  addBlock?(block: SinkRecordBlock, from: number, to: number): number;
  /** Returns the rows, statements and faults since the last call, and resets the decoder. */
  take(): Decoded;
  /** Number of rows waiting to be taken; a statement counts as one. */
  readonly rowCount: number;
}

/** Decodes records whose value is a message in one of the documented formats. */
export class MessageDecoder implements RecordDecoder {
  readonly #decoder: Decoder;
  readonly #spread: NanosecondSpread | undefined;
  #undecodable: Fault[] = [];
  #recordTimeMs: number | null = null;

  /**
   * `create` receives a clock: a line without a time gets the timestamp of its record, which stays the same if the
   * record is redelivered. If the record has no timestamp, the line gets the current time.
   */
  constructor(create: (now: () => number) => Decoder, nanoseconds?: NanosecondRule) {
    this.#decoder = create(() => (this.#recordTimeMs ?? Date.now()) * 1000);
    this.#spread = nanoseconds === 'spread' ? new NanosecondSpread() : undefined;
  }

  get rowCount(): number {
    return this.#decoder.rowCount;
  }

  add(record: SinkRecord, origin: Origin): void {
    // The documented formats have no tombstones, so a record without a value is ignored.
    if (record.value === null) return;
    this.#recordTimeMs = record.timestamp;
    try {
      this.#decoder.add(messageOf(record), origin);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      this.#undecodable.push({ scope: 'record', message: error.message, origin, cause: error });
    }
  }

  addBlock(block: SinkRecordBlock, from: number, to: number): number {
    if (!block.passesMessages) return from;
    return this.#decoder.addBlock?.(block.messages, from, to) ?? from;
  }

  take(): Decoded {
    const decoded = this.#spreadTimes(this.#decoder.take());
    const undecodable = this.#undecodable;
    this.#undecodable = [];
    return undecodable.length === 0 ? decoded : { ...decoded, faults: [...undecodable, ...decoded.faults] };
  }

  /** Spreads the times of each record separately, so that a record produces the same rows when redelivered in another batch. */
  #spreadTimes(decoded: Decoded): Decoded {
    const spread = this.#spread;
    if (spread === undefined) return decoded;
    const rows = decoded.rows.map((each) =>
      spread.apply(each, (row) => {
        const origin = each.batch.origins.at(row);
        return origin.kind === 'record' ? `${origin.topic} ${String(origin.partition)} ${String(origin.offset)}` : '';
      }),
    );
    spread.clear();
    return { ...decoded, rows };
  }
}

/** Text and bytes are used unchanged; values parsed by a JSON converter are serialized again. */
function messageOf(record: SinkRecord): string | Uint8Array {
  const { value, valueSchema } = record;
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  const json = plainJson(valueSchema, value);
  if (json === null) throw new DataError('The record has no value');
  return json;
}
