import { ConnectError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { MemoryLog, type LogRecord, type OpenRecordLog, type RecordLog } from './record-log.ts';

/** What is stored under a key: an object as JSON.parse makes it. */
export type StoredJson = Readonly<Record<string, unknown>>;

/** Told of each change, of other workers too, in the order of the log; `null`: the entry is gone. */
export type OwnStoreListener = (key: string, value: StoredJson | null) => void;

const MAX_VALUE_BYTES = 256 * 1024;

/**
 * What Sluice keeps beyond Connect's own records, for all workers of a cluster: restarts of tasks, the history of configurations.
 * Keys are texts with slashes (`healing/<connector>/<task>`), names in them written by `encodeURIComponent`. In a compacted topic
 * of its own (`sluice.storage.topic`), or in memory. Whoever writes under a prefix bounds the number of its entries.
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

  /** Never rejects: a worker without this topic works, and its entries last as long as its process. */
  async start(): Promise<void> {
    try {
      await this.#log.start();
    } catch (error) {
      this.#logger.warn(
        { err: error },
        `The topic of sluice.storage.topic cannot be used: ${toError(error).message}. What it would hold is kept in the ` +
          `memory of this worker: counts of restarts and the history of configurations are lost when the worker ends, and other workers do not know them`,
      );
      this.#log = new MemoryLog(this.#onRecord);
    }
  }

  async stop(): Promise<void> {
    await this.#log.stop();
  }

  /** Waits until everything in the log at the time of the call is part of the state. */
  async refresh(): Promise<void> {
    await this.#log.readToEnd();
  }

  /** `null` removes the entry. Resolves when it is written; `get` has it a moment later. Rejects for values beyond 256 kB. */
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

  /** Those whose keys begin with `prefix`. */
  entries(prefix: string): readonly (readonly [string, StoredJson])[] {
    return [...this.#entries].filter(([key]) => key.startsWith(prefix));
  }

  /** Returns what ends the listening. What was read during `start` is not told. */
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
