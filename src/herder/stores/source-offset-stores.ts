import type { ConnectorConfig } from '../../connect/api.ts';
import type { OffsetStorage, OpenOffsets, SourceOffsets, StoredOffset } from '../../connect/source/offset-storage.ts';
import { coordinatesKey } from '../../connect/source/offset-tracker.ts';
import type { SourceCoordinates } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import { OffsetStore } from './offset-store.ts';
import type { OpenRecordLog } from './record-log.ts';

/**
 * Opens the offsets of source connectors. A connector with `offsets.storage.topic` uses its own topic, with a copy in the
 * worker's store. All others use the worker's store (org.apache.kafka.connect.storage.ConnectorOffsetBackingStore).
 */
export class SourceOffsetStores implements SourceOffsets {
  readonly #worker: OffsetStore;
  readonly #workerTopic: string | undefined;
  readonly #openTopic: (connector: string, topic: string) => OpenRecordLog;
  readonly #logger: Logger;

  /**
   * `worker` contains the offsets of all connectors. `workerTopic` is the topic of this store. It is `undefined` on standalone
   * workers, where connectors cannot have their own topics either.
   */
  constructor(
    worker: OffsetStore,
    workerTopic: string | undefined,
    openTopic: (connector: string, topic: string) => OpenRecordLog,
    logger: Logger,
  ) {
    this.#worker = worker;
    this.#workerTopic = workerTopic;
    this.#openTopic = openTopic;
    this.#logger = logger;
  }

  async open(connector: string, config: ConnectorConfig): Promise<OpenOffsets> {
    const worker = this.#worker;
    const workerTopic = this.#workerTopic;
    const topic = config['offsets.storage.topic']?.trim() ?? '';
    if (workerTopic === undefined || topic === '' || topic === workerTopic) return workerOffsets(worker, workerTopic);
    const own = new OffsetStore(this.#openTopic(connector, topic), this.#logger);
    await own.start();
    const storage = new CopiedOffsets(own, worker, this.#logger);
    return {
      storage,
      topic: { name: topic, encode: (name, offsets) => own.encode(name, offsets) },
      committed: (offsets) => storage.copy(connector, offsets),
      close: () => own.stop(),
    };
  }
}

function workerOffsets(worker: OffsetStore, topic: string | undefined): OpenOffsets {
  return {
    storage: worker,
    topic: topic === undefined ? undefined : { name: topic, encode: (name, offsets) => worker.encode(name, offsets) },
    committed: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/**
 * Offsets in the connector's own store, which is authoritative, with a copy in the worker's store. The copy is used for
 * source partitions that have no offset in the connector's own store, and if the connector stops using its own topic.
 */
class CopiedOffsets implements OffsetStorage {
  readonly #own: OffsetStore;
  readonly #worker: OffsetStore;
  readonly #logger: Logger;

  constructor(own: OffsetStore, worker: OffsetStore, logger: Logger) {
    this.#own = own;
    this.#worker = worker;
    this.#logger = logger;
  }

  async read(connector: string, partition: SourceCoordinates): Promise<SourceCoordinates | null> {
    return (await this.#own.read(connector, partition)) ?? (await this.#worker.read(connector, partition));
  }

  /**
   * Writes offsets. Removals are applied to the copy first. Otherwise a removed offset would reappear if the write failed after
   * its removal from the connector's own store.
   */
  async write(connector: string, offsets: readonly StoredOffset[]): Promise<void> {
    const removals = offsets.filter(({ offset }) => offset === null);
    if (removals.length > 0) await this.#worker.write(connector, removals);
    await this.#own.write(connector, offsets);
    await this.copy(connector, offsets);
  }

  async list(connector: string): Promise<readonly StoredOffset[]> {
    const merged = new Map<string, StoredOffset>();
    for (const store of [this.#worker, this.#own]) {
      for (const stored of await store.list(connector)) merged.set(coordinatesKey(stored.partition), stored);
    }
    return [...merged.values()];
  }

  /** Copies offsets to the worker's store. Never rejects. */
  async copy(connector: string, offsets: readonly StoredOffset[]): Promise<void> {
    const kept = offsets.filter(({ offset }) => offset !== null);
    try {
      if (kept.length > 0) await this.#worker.write(connector, kept);
    } catch (error) {
      this.#logger.warn({ err: error, connector }, "Failed to copy offsets to the worker's offsets topic");
    }
  }
}
