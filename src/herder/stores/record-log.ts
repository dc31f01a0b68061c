import type { CompactedTopic } from '../../kafka/api.ts';

/** A record of a state log. The last record of a key determines its value; `null` removes the key. */
export interface LogRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  /** Offset in the topic; absent if the log is not a topic. */
  readonly offset?: number;
}

/** The log of a store: a compacted topic, a file, or memory. */
export type RecordLog = CompactedTopic;

/** Opens a log that calls `onRecord` for every existing and new record, in order. */
export type OpenRecordLog = (onRecord: (record: LogRecord) => void) => RecordLog;

/**
 * A log in memory. A standalone worker uses it for configs and statuses; any worker uses it for the OwnStore if that
 * has no topic.
 */
export class MemoryLog implements RecordLog {
  readonly #onRecord: (record: LogRecord) => void;

  constructor(onRecord: (record: LogRecord) => void) {
    this.#onRecord = onRecord;
  }

  async start(): Promise<void> {
    await Promise.resolve();
  }

  async send(key: string | Uint8Array, value: Uint8Array | null): Promise<void> {
    await this.sendAll([{ key, value }]);
  }

  async sendAll(records: readonly { key: string | Uint8Array; value: Uint8Array | null }[]): Promise<void> {
    for (const { key, value } of records) this.#onRecord({ key: Buffer.from(key), value });
    await Promise.resolve();
  }

  async readToEnd(): Promise<void> {
    await Promise.resolve();
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}
