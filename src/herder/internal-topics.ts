import type { Survey, SurveyedTopic } from '../kafka/api.ts';

/** A topic in which the workers store their state. */
export interface InternalTopicUse {
  readonly name: string;
  /** The worker property that names the topic. */
  readonly property: string;
  readonly singlePartition?: boolean | undefined;
}

/** State of an internal topic, as the brokers describe it. */
export interface InternalTopicView {
  readonly name: string;
  readonly property: string;
  readonly state: SurveyedTopic['state'];
  readonly partitions: number;
  /** Number of replicas of the partition with the fewest replicas. */
  readonly replicas: number;
  readonly leaderless: number;
  /** True if the topic must have one partition, because the order of records with different keys matters. */
  readonly singlePartition: boolean;
  /** `null` if the policy is unknown. */
  readonly cleanupPolicy: string | null;
  readonly minInsyncReplicas: number | null;
  readonly bytes: number | null;
}

export interface InternalTopicsView {
  readonly brokers: number;
  readonly topics: readonly InternalTopicView[];
}

/** Describes the internal topics of the worker group. Concurrent calls share one result. */
export class InternalTopics {
  readonly #open: () => Survey;
  readonly #uses: readonly InternalTopicUse[];
  #running: Promise<InternalTopicsView> | undefined;

  constructor(open: () => Survey, uses: readonly InternalTopicUse[]) {
    this.#open = open;
    this.#uses = uses;
  }

  get names(): readonly string[] {
    return this.#uses.map(({ name }) => name);
  }

  view(): Promise<InternalTopicsView> {
    this.#running ??= this.#describe().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #describe(): Promise<InternalTopicsView> {
    const survey = this.#open();
    try {
      const { names } = this;
      const [{ brokers }, found, sizes, settings] = await Promise.all([
        survey.cluster(),
        survey.topics(names),
        survey.topicSizes(names).catch(() => new Map<string, number>()),
        Promise.all(names.map((name) => survey.topicSettings(name).catch(() => undefined))),
      ]);
      const topics = this.#uses.map(({ name, property, singlePartition = false }, index) => {
        const { state = 'missing', partitions = 0, replicas = 0, leaderless = 0 } = found.get(name) ?? {};
        const known = settings[index];
        const minimum = Number(known?.get('min.insync.replicas') ?? NaN);
        return {
          ...{ name, property, state, partitions, leaderless, singlePartition },
          replicas,
          cleanupPolicy: known?.get('cleanup.policy') ?? null,
          minInsyncReplicas: Number.isInteger(minimum) ? minimum : null,
          bytes: sizes.get(name) ?? null,
        };
      });
      return { brokers, topics };
    } finally {
      await survey.close();
    }
  }
}
