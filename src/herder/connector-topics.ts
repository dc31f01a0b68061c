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

/** Which topics each connector has used, kept with the statuses (docs/compatibility.md#the-management-api). */
export class ConnectorTopics implements HerderListener {
  readonly #statuses: StatusStore;
  readonly #tracking: TopicTracking;
  readonly #logger: Logger;
  /** Written, and not come back from the store yet. */
  readonly #onTheirWay = new Set<string>();

  constructor(statuses: StatusStore, tracking: TopicTracking, logger: Logger) {
    this.#statuses = statuses;
    this.#tracking = tracking;
    this.#logger = logger;
  }

  /** A task met records of a topic. Costs next to nothing for one that is known. */
  onTopic({ connector, task }: TaskId, topic: string): void {
    if (!this.#tracking.enabled || this.#statuses.hasTopic(connector, topic)) return;
    const key = `${topic}:${connector}`;
    if (this.#onTheirWay.has(key)) return;
    this.#onTheirWay.add(key);
    this.#statuses
      .putTopic({ topic, connector, task, discoveredAtMs: Date.now() })
      .catch((error: unknown) => {
        this.#logger.warn({ err: error, connector, task }, `That topic ${topic} is used could not be written down`);
      })
      .finally(() => this.#onTheirWay.delete(key));
  }

  list(connector: string): string[] {
    if (!this.#tracking.enabled) throw new RequestError(403, 'Topic tracking is disabled.');
    return this.#statuses.topics(connector).map(({ topic }) => topic);
  }

  async reset(connector: string): Promise<void> {
    if (!this.#tracking.enabled) throw new RequestError(403, 'Topic tracking is disabled.');
    if (!this.#tracking.resettable) throw new RequestError(403, 'Topic tracking reset is disabled.');
    await this.#statuses.removeTopics(connector);
  }
}
