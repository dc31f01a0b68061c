import { ConnectError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { MemoryLog, type LogRecord, type OpenRecordLog, type RecordLog } from './record-log.ts';

/** The value of a key, in the form that JSON.parse returns. */
export type StoredJson = Readonly<Record<string, unknown>>;

/** Called in log order for each change that any worker made. `value` is `null` if the entry was removed. */
export type OwnStoreListener = (key: string, value: StoredJson | null) => void;

const MAX_VALUE_BYTES = 256 * 1024;

/**
 * Stores state that Kafka Connect does not have, for all workers of a cluster: the restart states of connectors and
 * tasks, the history of configurations, and the replays of dead-letter records. The state is in a compacted topic
 * (`sluice.storage.topic`) or in memory. Keys are paths (`healing/<connector>/<task>`), in which names are encoded by
 * `encodeURIComponent`. The feature that owns a prefix must limit the number of its entries.
 */
export class OwnStore {
  #log: RecordLog;
  readonly #logger: Logger;
  readonly #entries = new Map<string, StoredJson>();
  readonly #listeners = new Set<OwnStoreListener>();

  constructor(open: OpenRecordLog, logger: Logger) {
    this.#log = open(this.#onRecord);
    this.#logger = logger;
  }

  /** Reads the topic. Never rejects: if the topic cannot be used, entries are kept in memory until the process ends. */
  async start(): Promise<void> {
    try {
      await this.#log.start();
    } catch (error) {
      this.#logger.warn(
        { err: error },
        `The topic of sluice.storage.topic cannot be used: ${toError(error).message}. Its entries are kept in the ` +
          `memory of this worker: restart counts, the history of configurations and replays are lost when the worker ends, and other workers do not have them`,
      );
      this.#log = new MemoryLog(this.#onRecord);
    }
  }

  async stop(): Promise<void> {
    await this.#log.stop();
  }

  /** Resolves when all records that existed in the log at the time of the call have been applied. */
  async refresh(): Promise<void> {
    await this.#log.readToEnd();
  }

  /**
   * Writes an entry, or removes it if the value is `null`. Resolves when the record has been written; `get` returns the value
   * shortly afterwards. Rejects values over 256 kB.
   */
  async put(key: string, value: StoredJson | null): Promise<void> {
    const bytes = value === null ? null : Buffer.from(JSON.stringify(value));
    if (bytes !== null && bytes.length > MAX_VALUE_BYTES) {
      throw new ConnectError(`The entry ${key} has ${String(bytes.length)} bytes; at most 256 kB can be stored`);
    }
    await this.#log.send(key, bytes);
  }

  get(key: string): StoredJson | undefined {
    return this.#entries.get(key);
  }

  /** Returns the entries whose keys start with `prefix`. */
  entries(prefix: string): readonly (readonly [string, StoredJson])[] {
    return [...this.#entries].filter(([key]) => key.startsWith(prefix));
  }

  /**
   * Adds a listener and returns a function that removes it. A listener that is added before `start` is also called for
   * the entries that `start` reads.
   */
  onChange(listener: OwnStoreListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  readonly #onRecord = (record: LogRecord): void => {
    const key = Buffer.from(record.key).toString();
    let value: StoredJson | null;
    try {
      value = record.value === null ? null : parse(record.value);
    } catch (error) {
      this.#logger.warn({ key, reason: toError(error).message }, `The entry ${key} cannot be read and is ignored`);
      return;
    }
    if (value === null) this.#entries.delete(key);
    else this.#entries.set(key, value);
    for (const listener of this.#listeners) listener(key, value);
  };
}

function parse(bytes: Uint8Array): StoredJson {
  const value = JSON.parse(Buffer.from(bytes).toString()) as unknown;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object');
  return value as StoredJson;
}
