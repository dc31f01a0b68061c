import type { Logger } from '../../observe/logger.ts';
import type { ConfigStore } from '../../herder/stores/config-store.ts';
import type { OwnStore } from '../../herder/stores/own-store.ts';
import { EntryWriter } from './entry-writer.ts';
import {
  configFingerprint,
  fromStored,
  healingKey,
  healingPrefix,
  healingTarget,
  toStored,
  type HealingEntry,
} from './healing-entry.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';
import { restartView, type RestartView } from './restart-view.ts';

/**
 * The entries of all targets, in the own store. Of those of this worker it knows more than the store, whose topic may lag behind or
 * not be reachable.
 */
export class HealingBook {
  readonly #own: OwnStore;
  readonly #configs: Pick<ConfigStore, 'connector'>;
  readonly #writer: EntryWriter;
  /** `null`: there is none, whatever the store says. */
  readonly #known = new Map<string, HealingEntry | null>();

  constructor(own: OwnStore, configs: Pick<ConfigStore, 'connector'>, logger: Logger) {
    this.#own = own;
    this.#configs = configs;
    this.#writer = new EntryWriter(own, logger);
  }

  /** Of a target that is this worker's now; one for another configuration does not count. */
  entry(target: RestartTarget): HealingEntry | undefined {
    const key = healingKey(target);
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    const stored = fromStored(this.#own.get(key));
    const entry = stored?.config === this.fingerprint(target) ? stored : undefined;
    this.#known.set(key, entry ?? null);
    return entry;
  }

  put(target: RestartTarget, entry: HealingEntry): void {
    const key = healingKey(target);
    this.#known.set(key, entry);
    this.#writer.set(key, toStored(entry));
  }

  remove(target: RestartTarget): void {
    const key = healingKey(target);
    const isStored = (this.#known.get(key) ?? undefined) !== undefined || this.#own.get(key) !== undefined;
    this.#known.set(key, null);
    if (isStored) this.#writer.set(key, null);
  }

  /** It is another worker's from now on: what is stored counts. */
  release(target: RestartTarget): void {
    this.#known.delete(healingKey(target));
  }

  /** Of a connector that is gone. `everywhere`: also what other workers have stored. */
  forget(connector: string, everywhere: boolean): void {
    const prefix = healingPrefix(connector);
    for (const key of this.#known.keys()) if (key.startsWith(prefix)) this.#known.delete(key);
    if (everywhere) for (const [key] of this.#own.entries(prefix)) this.#writer.set(key, null);
  }

  /** Takes away what is stored of connectors and tasks that do not exist. */
  sweep(): void {
    for (const [key] of this.#own.entries(healingPrefix())) {
      const target = healingTarget(key);
      if (target === undefined || this.fingerprint(target) === undefined) this.#writer.set(key, null);
    }
  }

  /** Of all workers, the connector's own first. */
  views(connector: string): readonly RestartView[] {
    const prefix = healingPrefix(connector);
    const stored = this.#own.entries(prefix).map(([key, value]) => [key, fromStored(value)] as const);
    const known = [...this.#known].filter(([key]) => key.startsWith(prefix));
    const views = [...new Map([...stored, ...known])].flatMap(([key, entry]) => {
      const target = healingTarget(key);
      const isOfConfig = target !== undefined && entry?.config === this.fingerprint(target);
      return isOfConfig && entry ? [restartView(target, entry)] : [];
    });
    return views.sort((a, b) => (a.task ?? -1) - (b.task ?? -1));
  }

  /** Of the configuration that the target has now; `undefined`: there is no such target. */
  fingerprint({ connector, task }: RestartTarget): string | undefined {
    return configFingerprint(this.#configs.connector(connector), task);
  }

  async idle(): Promise<void> {
    await this.#writer.idle();
  }
}
