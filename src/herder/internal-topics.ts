import type { Survey, SurveyedTopic } from '../kafka/api.ts';

/** A topic in which workers keep their state. */
export interface InternalTopicUse {
  readonly name: string;
  /** The worker property that names it. */
  readonly property: string;
  readonly singlePartition?: boolean | undefined;
}

/** What the brokers say of it. */
export interface InternalTopicView {
  readonly name: string;
  readonly property: string;
  readonly state: SurveyedTopic['state'];
  readonly partitions: number;
  /** Of the partition with the fewest. */
  readonly replicas: number;
  readonly leaderless: number;
  /** It must have one partition, as the order between its keys matters. */
  readonly singlePartition: boolean;
  /** `null`: not told. */
  readonly cleanupPolicy: string | null;
  readonly minInsyncReplicas: number | null;
  readonly bytes: number | null;
}

export interface InternalTopicsView {
  readonly brokers: number;
  readonly topics: readonly InternalTopicView[];
}

/** Looks at the internal topics of the group; several that ask at the same time get one answer. */
export class InternalTopics {
  readonly #open: () => Survey;
  readonly #uses: readonly InternalTopicUse[];
  #running: Promise<InternalTopicsView> | undefined;

  constructor(open: () => Survey, uses: readonly InternalTopicUse[]) {
    this.#open = open;
    this.#uses = uses;
  }

  view(): Promise<InternalTopicsView> {
    this.#running ??= this.#look().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #look(): Promise<InternalTopicsView> {
    const survey = this.#open();
    try {
      const names = this.#uses.map(({ name }) => name);
      const [{ brokers }, found, sizes, settings] = await Promise.all([
        survey.cluster(),
        survey.topics(names),
        survey.topicSizes(names).catch(() => new Map<string, number>()),
        Promise.all(names.map((name) => survey.topicSettings(name).catch(notTold))),
      ]);
      const topics = this.#uses.map(({ name, property, singlePartition = false }, index) => {
        const { state = 'missing', partitions = 0, replicas = 0, leaderless = 0 } = found.get(name) ?? {};
        const told = settings[index];
        const minimum = Number(told?.get('min.insync.replicas') ?? NaN);
        return {
          ...{ name, property, state, partitions, leaderless, singlePartition },
          replicas: Number.isFinite(replicas) ? replicas : 0,
          cleanupPolicy: told?.get('cleanup.policy') ?? null,
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

/** This client may not see it. */
function notTold(): undefined {
  return undefined;
}
