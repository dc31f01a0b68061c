import type { PackedRecords } from '../../data/packed-records.ts';
import type { ProducedRecord } from '../api.ts';
import type { BatchSender } from './batch-sender.ts';
import type { Delivery } from './send-queue.ts';

interface OpenBatch {
  readonly topic: string;
  readonly partition: number;
  records: ProducedRecord[];
  byteLength: number;
  packed: PackedRecords | undefined;
}

/** Groups the records of one `send` into batches. */
export class OpenBatches {
  readonly maxBatchBytes: number;
  readonly #sender: BatchSender;
  readonly #delivery: Delivery;
  readonly #open = new Map<string, Map<number, OpenBatch>>();
  #last: OpenBatch | undefined;

  constructor(sender: BatchSender, delivery: Delivery, maxBatchBytes: number) {
    this.#sender = sender;
    this.#delivery = delivery;
    this.maxBatchBytes = maxBatchBytes;
  }

  /**
   * Adds a record to the batch of its partition. `size` is an upper bound of the size of a batch that contains only this
   * record, in bytes.
   */
  add(record: ProducedRecord, partition: number, size: number, packed: PackedRecords | undefined): void {
    const batch = this.#of(record.topic, partition);
    if (batch.packed !== packed || batch.byteLength + size > this.maxBatchBytes) this.#send(batch);
    batch.packed = packed;
    batch.records.push(record);
    batch.byteLength += size;
  }

  /** Sends packed records as a batch. `packed` are the packed records, as passed to the producer, that contain `records`. */
  addPacked(records: PackedRecords, partition: number, packed: PackedRecords): void {
    const { topic } = records;
    // Sends earlier records of the partition first, to preserve the order.
    this.#send(this.#of(topic, partition));
    this.#sender.enqueue({ topic, partition, records, packed, byteLength: records.bytes.length }, this.#delivery);
  }

  close(): void {
    for (const batches of this.#open.values()) for (const batch of batches.values()) this.#send(batch);
  }

  #send(batch: OpenBatch): void {
    if (batch.records.length === 0) return;
    this.#sender.enqueue(batch, this.#delivery);
    batch.records = [];
    batch.byteLength = 0;
  }

  #of(topic: string, partition: number): OpenBatch {
    if (this.#last?.topic === topic && this.#last.partition === partition) return this.#last;
    let batches = this.#open.get(topic);
    if (batches === undefined) this.#open.set(topic, (batches = new Map<number, OpenBatch>()));
    let batch = batches.get(partition);
    if (batch === undefined) {
      batches.set(partition, (batch = { topic, partition, records: [], byteLength: 0, packed: undefined }));
    }
    this.#last = batch;
    return batch;
  }
}
