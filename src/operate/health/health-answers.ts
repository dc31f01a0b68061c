import {
  anyOf,
  arrayOf,
  BOOLEAN,
  component,
  described,
  enumOf,
  INTEGER,
  nullable,
  NUMBER,
  objectOf,
  TEXT,
  withMore,
  type ShapeOf,
  type Typed,
} from '../../json/open-api.ts';
import { CONNECTOR_TYPE } from '../../rest/answers.ts';
import { VERDICTS } from './verdicts.ts';

const VERDICT = enumOf(VERDICTS);
const SEEN_VERDICT: Typed<readonly [verdict: ShapeOf<typeof VERDICT>, sinceMs: number]> = {
  type: 'array',
  prefixItems: [VERDICT, NUMBER],
  items: false,
};

/** The lag of a sink that does not read. */
export const COMMITTED_LAG = withMore(
  objectOf({
    connector: TEXT,
    lag: NUMBER,
    topics: arrayOf(objectOf({ name: TEXT, partitions: NUMBER, lag: nullable(NUMBER) })),
  }),
);

/** Figures of a task in answers. Workers of a later version may send more members. */
export const FIGURES_OF_TASK = withMore(
  objectOf({
    'connector?': TEXT,
    task: NUMBER,
    state: TEXT,
    worker: TEXT,
    thread: nullable(anyOf(TEXT, INTEGER)),
    partitions: arrayOf(objectOf({ topic: TEXT, partition: NUMBER, lag: nullable(NUMBER) })),
    lag: nullable(NUMBER),
    waiting: NUMBER,
    lastDeliveredAt: nullable(TEXT),
    waitedMs: NUMBER,
    retries: NUMBER,
    deadLettersPerMinute: NUMBER,
    missingTopics: arrayOf(TEXT),
    'emptyTopics?': arrayOf(TEXT),
    cause: nullable(TEXT),
    'failedParts?': objectOf({ count: NUMBER, parts: arrayOf(objectOf({ name: TEXT, error: TEXT })) }),
    'hints?': arrayOf(TEXT),
    'throttledMs?': NUMBER,
    'lastPutMs?': NUMBER,
    'silentMs?': NUMBER,
    'withoutPartitionsMs?': NUMBER,
    'isInGroup?': BOOLEAN,
    'uncommittedMs?': NUMBER,
  }),
);

const RESTART = component(
  'Restart',
  objectOf({
    task: nullable(INTEGER),
    state: enumOf(['WAITING', 'STARTED', 'GIVEN_UP']),
    policy: TEXT,
    attempt: INTEGER,
    maxAttempts: nullable(INTEGER),
    nextAttemptAt: nullable(TEXT),
    givenUpFor: described(
      nullable(enumOf(['policy', 'kind', 'attempts'])),
      'Why it is not restarted: restart.policy=never, the kind of the failure, or no attempt is left',
    ),
    kind: enumOf(['infrastructure', 'hang', 'memory', 'configuration', 'data', 'unknown']),
    reason: TEXT,
    since: TEXT,
  }),
);
export const TASK_FIGURES = component(
  'TaskFigures',
  objectOf({ tasks: arrayOf(FIGURES_OF_TASK), committed: arrayOf(COMMITTED_LAG) }),
);
export const CONNECTOR_HEALTH = component(
  'ConnectorHealth',
  objectOf({
    name: TEXT,
    type: CONNECTOR_TYPE,
    verdict: VERDICT,
    sentence: TEXT,
    summary: described(TEXT, 'The sentence without its clause on the next restart'),
    since: TEXT,
    verdicts: described(
      arrayOf(SEEN_VERDICT),
      'The last verdicts that this worker has seen and since when (milliseconds since the epoch), the oldest first',
    ),
    reasons: arrayOf(TEXT),
    lag: nullable(NUMBER),
    tasks: arrayOf(FIGURES_OF_TASK),
    silentWorkers: arrayOf(TEXT),
    restarts: arrayOf(RESTART),
  }),
);
export const CONNECTORS_HEALTH = component(
  'ConnectorsHealth',
  objectOf({
    status: enumOf(['healthy', 'unhealthy']),
    connectors: objectOf(Object.fromEntries(VERDICTS.map((name) => [name, INTEGER]))),
    attention: arrayOf(objectOf({ name: TEXT, verdict: VERDICT, sentence: TEXT, since: TEXT })),
    silentWorkers: arrayOf(TEXT),
  }),
);
