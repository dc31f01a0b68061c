import type { OwnStore } from '../../herder/stores/own-store.ts';
import {
  connectorOfKey,
  REPLAY_PREFIX,
  replayKey,
  replayPrefix,
  storedReplay,
  type StoredReplay,
} from './stored-replay.ts';

const MAX_KEPT = 20;

/** The replays of all connectors in OwnStore. */
export class KeptReplays {
  readonly #own: OwnStore;

  constructor(own: OwnStore) {
    this.#own = own;
  }

  of(connector: string): readonly StoredReplay[] {
    return this.#own.entries(replayPrefix(connector)).flatMap(([, value]) => storedReplay(value) ?? []);
  }

  connectors(): ReadonlySet<string> {
    return new Set(this.#own.entries(REPLAY_PREFIX).map(([key]) => connectorOfKey(key) ?? ''));
  }

  /** Catches up with the writes of other workers. */
  async refresh(): Promise<void> {
    await this.#own.refresh();
  }

  /** Calls `listener` when the entry of a running replay was written. Returns the function that unsubscribes it. */
  onRunning(listener: (connector: string, key: string) => void): () => void {
    return this.#own.onChange((key, value) => {
      const connector = connectorOfKey(key);
      if (connector !== undefined && storedReplay(value ?? undefined)?.state === 'RUNNING') listener(connector, key);
    });
  }

  async put(connector: string, replay: StoredReplay): Promise<void> {
    await this.#own.put(replayKey(connector, replay.id), { ...replay });
  }

  /** Removes the oldest replays to make room for one more; returns the removed keys. */
  async prune(connector: string): Promise<readonly string[]> {
    const old = [...this.of(connector)].sort((a, b) => b.id - a.id).slice(MAX_KEPT - 1);
    return this.#remove(connector, old);
  }

  /** Removes the replays of a deleted connector; returns the removed keys. */
  async forget(connector: string): Promise<readonly string[]> {
    return this.#remove(connector, this.of(connector));
  }

  async #remove(connector: string, replays: readonly StoredReplay[]): Promise<readonly string[]> {
    const keys = replays.map(({ id }) => replayKey(connector, id));
    for (const key of keys) await this.#own.put(key, null);
    return keys;
  }
}
