import {
  Schema,
  type ConnectValue,
  type SourceCoordinates,
  type SourceRecord,
  type SourceTaskContext,
} from '../../src/index.ts';

export const INT32 = new Schema('int32');
export const INT64 = new Schema('int64');
export const STRING = new Schema('string');

interface NumberedData {
  readonly partition: number | null;
  readonly keySchema: Schema;
  readonly key: ConnectValue;
  readonly valueSchema: Schema;
  readonly value: ConnectValue;
}

/** Numbers the records of a task from 0. The source offset is the number, so that a restarted task continues after it. */
export class NumberedSource {
  readonly #sourcePartition: SourceCoordinates;
  readonly #topic: string;
  #seqno: bigint;

  private constructor(id: number, topic: string, seqno: bigint) {
    this.#sourcePartition = { id };
    this.#topic = topic;
    this.#seqno = seqno;
  }

  static async open(context: SourceTaskContext, id: number, topic: string): Promise<NumberedSource> {
    const stored = (await context.offset({ id }))?.['seqno'];
    const seqno = stored === undefined || stored === null ? 0n : BigInt(stored) + 1n;
    context.logger.info(`Producing to topic ${topic}, resuming from seqno ${String(seqno)}`);
    return new NumberedSource(id, topic, seqno);
  }

  /** Number of the next record. */
  get seqno(): bigint {
    return this.#seqno;
  }

  /** Creates the record with the number `seqno`, and increments `seqno`. */
  record(data: NumberedData): SourceRecord {
    const sourceOffset = { seqno: this.#seqno };
    this.#seqno += 1n;
    return {
      sourcePartition: this.#sourcePartition,
      sourceOffset,
      topic: this.#topic,
      timestamp: null,
      headers: [],
      ...data,
    };
  }
}
