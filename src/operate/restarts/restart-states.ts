import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConfigStore } from '../../herder/stores/config-store.ts';
import type { OwnStore, StoredJson } from '../../herder/stores/own-store.ts';
import {
  configFingerprint,
  fromStored,
  restartKey,
  restartPrefix,
  restartTarget,
  toStored,
  type RestartState,
} from './restart-state.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';
import { restartView, type RestartView } from './restart-view.ts';

/**
 * The restart states of all targets, in OwnStore. The states of this worker's own targets are also kept in memory,
 * because the topic of OwnStore may lag behind or be unreachable.
 */
export class RestartStates {
  readonly #own: OwnStore;
  readonly #configs: Pick<ConfigStore, 'connector'>;
  readonly #writer: StateWriter;
  /** The states by key; `null`: the target has no state, even if the store still contains one. */
  readonly #known = new Map<string, RestartState | null>();

  constructor(own: OwnStore, configs: Pick<ConfigStore, 'connector'>, logger: Logger) {
    this.#own = own;
    this.#configs = configs;
    this.#writer = new StateWriter(own, logger);
  }

  /** Returns the state of a target that this worker owns. A stored state of another configuration is ignored. */
  get(target: RestartTarget): RestartState | undefined {
    const key = restartKey(target);
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    const stored = fromStored(this.#own.get(key));
    const state = stored?.config === this.fingerprint(target) ? stored : undefined;
    this.#known.set(key, state ?? null);
    return state;
  }

  put(target: RestartTarget, state: RestartState): void {
    const key = restartKey(target);
    this.#known.set(key, state);
    this.#writer.set(key, toStored(state));
  }

  remove(target: RestartTarget): void {
    const key = restartKey(target);
    const isStored = (this.#known.get(key) ?? undefined) !== undefined || this.#own.get(key) !== undefined;
    this.#known.set(key, null);
    if (isStored) this.#writer.set(key, null);
  }

  /** Called when the target is revoked from this worker. From then on, the stored state applies. */
  release(target: RestartTarget): void {
    this.#known.delete(restartKey(target));
  }

  /** Removes the states of a deleted connector from memory. `everywhere`: also the stored ones, of all workers. */
  forget(connector: string, everywhere: boolean): void {
    const prefix = restartPrefix(connector);
    for (const key of this.#known.keys()) if (key.startsWith(prefix)) this.#known.delete(key);
    if (everywhere) for (const [key] of this.#own.entries(prefix)) this.#writer.set(key, null);
  }

  /** Removes the stored states of connectors and tasks that do not exist. */
  sweep(): void {
    for (const [key] of this.#own.entries(restartPrefix())) {
      const target = restartTarget(key);
      if (target === undefined || this.fingerprint(target) === undefined) this.#writer.set(key, null);
    }
  }

  /** The states on all workers, the connector's own first. */
  views(connector: string): readonly RestartView[] {
    const prefix = restartPrefix(connector);
    const stored = this.#own.entries(prefix).map(([key, value]) => [key, fromStored(value)] as const);
    const known = [...this.#known].filter(([key]) => key.startsWith(prefix));
    const views = [...new Map([...stored, ...known])].flatMap(([key, state]) => {
      const target = restartTarget(key);
      const isOfConfig = target !== undefined && state?.config === this.fingerprint(target);
      return isOfConfig && state ? [restartView(target, state)] : [];
    });
    return views.sort((a, b) => (a.task ?? -1) - (b.task ?? -1));
  }

  /** The fingerprint of the target's current configuration; `undefined`: there is no such target. */
  fingerprint({ connector, task }: RestartTarget): string | undefined {
    return configFingerprint(this.#configs.connector(connector), task);
  }

  async idle(): Promise<void> {
    await this.#writer.idle();
  }
}

/** Writes states in the background. While no broker answers, only the newest state of each key is kept. */
class StateWriter {
  readonly #own: Pick<OwnStore, 'put'>;
  readonly #logger: Logger;
  readonly #pending = new Map<string, StoredJson | null>();
  #writing: Promise<void> | undefined;

  constructor(own: Pick<OwnStore, 'put'>, logger: Logger) {
    this.#own = own;
    this.#logger = logger;
  }

  /** `null` removes the state. */
  set(key: string, value: StoredJson | null): void {
    this.#pending.delete(key);
    this.#pending.set(key, value);
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Resolves when all pending states are written or have failed. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#pending.size > 0) {
      const batch = [...this.#pending];
      this.#pending.clear();
      await Promise.all(batch.map(([key, value]) => this.#put(key, value)));
    }
  }

  async #put(key: string, value: StoredJson | null): Promise<void> {
    try {
      await this.#own.put(key, value);
    } catch (error) {
      this.#logger.warn(
        { key, reason: toError(error).message },
        'Failed to store a restart state; a worker that takes over the connector or task continues from the last stored state, if any',
      );
    }
  }
}
