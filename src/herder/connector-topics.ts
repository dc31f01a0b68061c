import type { TaskId } from '../connect/task-assignment.ts';
import { RequestError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { HerderListener } from './herder-listener.ts';
import type { StatusStore } from './stores/status-store.ts';

export interface TopicTracking {
  /** `topic.tracking.enable` */
  readonly enabled: boolean;
  /** `topic.tracking.allow.reset` */
  readonly resettable: boolean;
}

/** The topics that each connector has used, stored with the statuses (docs/compatibility.md#the-management-api). */
export class ConnectorTopics implements HerderListener {
  readonly #statuses: StatusStore;
  readonly #tracking: TopicTracking;
  readonly #logger: Logger;
  /** Keys (`topic:connector`) of status records whose write is pending. */
  readonly #pending = new Set<string>();

  constructor(statuses: StatusStore, tracking: TopicTracking, logger: Logger) {
    this.#statuses = statuses;
    this.#tracking = tracking;
    this.#logger = logger;
  }

  /** Called repeatedly for each topic that a task reads or writes, at most about once per second. */
  onTopic({ connector, task }: TaskId, topic: string): void {
    if (!this.#tracking.enabled || this.#statuses.hasTopic(connector, topic)) return;
    const key = `${topic}:${connector}`;
    if (this.#pending.has(key)) return;
    this.#pending.add(key);
    this.#statuses
      .putTopic({ topic, connector, task, discoveredAtMs: Date.now() })
      .catch((error: unknown) => {
        this.#logger.warn({ err: error, connector, task }, `Failed to record the use of topic ${topic}`);
      })
      .finally(() => this.#pending.delete(key));
  }

  /** The topics that the connector has used; `undefined` if topics are not tracked. */
  tracked(connector: string): string[] | undefined {
    return this.#tracking.enabled ? this.list(connector) : undefined;
  }

  /** @throws RequestError 403: topics are not tracked */
  list(connector: string): string[] {
    if (!this.#tracking.enabled) throw notTracked();
    return this.#statuses.topics(connector).map(({ topic }) => topic);
  }

  async reset(connector: string): Promise<void> {
    if (!this.#tracking.enabled) throw notTracked();
    if (!this.#tracking.resettable) throw new RequestError(403, 'Topic tracking reset is disabled.');
    await this.#statuses.removeTopics(connector);
  }
}

export function notTracked(): RequestError {
  return new RequestError(403, 'Topic tracking is disabled.');
}
