import { createsTopics, topicCreation } from '../../connect/source/topic-creator.ts';
import { toError } from '../../errors.ts';
import type { RawConnectorConfig } from '../../herder/validation.ts';
import type { Survey } from '../../kafka/api.ts';
import type { WrittenTopicsAnswer } from './console-answers.ts';

/** Maximum number of topics that are examined. */
const MAX_TOPICS = 1000;

/** Examines the topics that a new source would write: which of them exist, and who creates the others. */
export class WrittenTopics {
  readonly #open: () => Survey;
  readonly #isCreationEnabled: boolean;

  /** `isCreationEnabled`: `topic.creation.enable` of the worker */
  constructor(open: () => Survey, isCreationEnabled: boolean) {
    this.#open = open;
    this.#isCreationEnabled = isCreationEnabled;
  }

  /**
   * `names`: the topics that the plugin derives from its tables. The answer has no topics if a transform may change them,
   * or if the source writes to other brokers than the worker.
   */
  async of(config: RawConnectorConfig, names: readonly string[]): Promise<WrittenTopicsAnswer> {
    const isCreationEnabled = this.#isCreationEnabled;
    const isElsewhere = config['producer.override.bootstrap.servers'] !== undefined;
    const wanted = isElsewhere || (config['transforms'] ?? '').trim() !== '' ? [] : [...new Set(names)].sort();
    if (wanted.length === 0) return { topics: [], total: 0, creation: 'unknown', isCreationEnabled };
    const examined = wanted.slice(0, MAX_TOPICS);
    const survey = this.#open();
    try {
      const found = await survey.topics(examined);
      const topics = examined.map((name) => ({ name, state: found.get(name)?.state ?? 'missing' }));
      const missing = topics.find(({ state }) => state === 'missing');
      const answer = { topics, total: wanted.length, isCreationEnabled };
      if (missing === undefined) return { ...answer, creation: 'unknown' };
      if (isCreationEnabled && createsTopics(config))
        return { ...answer, creation: 'source', ...(await problemOf(survey, config, missing.name)) };
      const areCreated = await survey.brokersCreateTopics();
      return { ...answer, creation: areCreated === undefined ? 'unknown' : areCreated ? 'brokers' : 'nobody' };
    } finally {
      await survey.close();
    }
  }
}

/** Why the source could not create the topic: an invalid setting, a missing right, or too few brokers. */
async function problemOf(
  survey: Survey,
  config: RawConnectorConfig,
  topic: string,
): Promise<Pick<WrittenTopicsAnswer, 'problem'>> {
  try {
    const wanted = topicCreation(withoutNulls(config))(topic)?.wanted;
    const problem = wanted && (await survey.creationProblem(wanted));
    return problem === undefined ? {} : { problem: problem.message };
  } catch (error) {
    return { problem: toError(error).message };
  }
}

function withoutNulls(config: RawConnectorConfig): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(config).filter((entry): entry is [string, string] => entry[1] !== null));
}
