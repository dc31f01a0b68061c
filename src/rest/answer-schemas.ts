import { CHANGES } from '../herder/recorded-change.ts';
import { VERDICTS } from '../operate/health/verdict.ts';
import { arrayOf, mapOf, objectOf, type JsonSchema } from '../json/open-api.ts';
import { COMMITTED_LAG, TASK_FIGURES } from '../operate/health/task-figures-schema.ts';

const text: JsonSchema = { type: 'string' };
const nullableText: JsonSchema = { type: ['string', 'null'] };
const integer: JsonSchema = { type: 'integer' };
const texts = arrayOf(text);

export function ref(name: keyof typeof ANSWER_SCHEMAS): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const taskId = objectOf({ connector: text, task: integer });
const states = { type: 'string', enum: ['RUNNING', 'PAUSED', 'STOPPED', 'FAILED', 'UNASSIGNED', 'RESTARTING'] };
const state = { state: states, worker_id: text, 'version?': text, 'trace?': text };
const connectorType: JsonSchema = { type: 'string', enum: ['sink', 'source', 'unknown'] };
const letterPlace = objectOf({ partition: integer, offset: integer, timestamp: integer });
const config = mapOf(text);
const verdict: JsonSchema = { type: 'string', enum: VERDICTS };

/** The bodies of the answers, by the names of Connect's classes (org.apache.kafka.connect.runtime.rest.entities) where it has them. */
export const ANSWER_SCHEMAS = {
  ErrorMessage: objectOf({ error_code: integer, message: nullableText }),
  ServerInfo: objectOf({ version: text, commit: text, kafka_cluster_id: text }),
  WorkerStatus: objectOf({ status: { type: 'string', enum: ['healthy', 'unhealthy', 'starting'] }, message: text }),
  Message: objectOf({ message: text }),
  ConnectorInfo: objectOf({
    name: text,
    config,
    tasks: arrayOf(taskId),
    type: connectorType,
    'offsets_status?': text,
  }),
  ConnectorStateInfo: objectOf({
    name: text,
    connector: objectOf(state),
    tasks: arrayOf(reference('TaskState')),
    type: connectorType,
  }),
  ConnectorChange: objectOf({
    n: integer,
    at: text,
    what: { type: 'string', enum: CHANGES },
    by: {
      anyOf: [objectOf({ user: nullableText, address: nullableText, 'via?': text }), { type: 'null' }],
      description: 'null: not known',
    },
    state: { type: 'string', enum: ['RUNNING', 'PAUSED', 'STOPPED'] },
    worker: { ...nullableText, description: 'The worker that made or found the change; null: not known' },
    'task?': { ...integer, description: 'The task that was restarted' },
    'automatic?': { type: 'boolean', description: 'A restart by the worker after a failure' },
    'restoredFrom?': integer,
    difference: {
      anyOf: [arrayOf(objectOf({ key: text, 'before?': nullableText, 'after?': nullableText })), { type: 'null' }],
      description: 'null: not known',
    },
  }),
  ConnectorHealth: objectOf({
    name: text,
    type: connectorType,
    verdict,
    sentence: text,
    summary: { type: 'string', description: 'The sentence without its clause on the next restart' },
    since: text,
    reasons: texts,
    lag: { type: ['number', 'null'] },
    tasks: arrayOf(TASK_FIGURES),
    silentWorkers: texts,
    restarts: arrayOf(reference('Restart')),
  }),
  TaskFigures: objectOf({ tasks: arrayOf(TASK_FIGURES), committed: arrayOf(COMMITTED_LAG) }),
  ConnectorsHealth: objectOf({
    status: { type: 'string', enum: ['healthy', 'unhealthy'] },
    connectors: objectOf(Object.fromEntries(VERDICTS.map((name) => [name, integer]))),
    attention: arrayOf(objectOf({ name: text, verdict, sentence: text, since: text })),
    silentWorkers: texts,
  }),
  Restart: objectOf({
    task: { type: ['integer', 'null'] },
    state: { type: 'string', enum: ['WAITING', 'STARTED', 'GIVEN_UP'] },
    policy: text,
    attempt: integer,
    maxAttempts: { type: ['integer', 'null'] },
    nextAttemptAt: nullableText,
    givenUpFor: {
      type: ['string', 'null'],
      enum: ['policy', 'kind', 'attempts', null],
      description: 'Why it is not restarted: restart.policy=never, the kind of the failure, or no attempt is left',
    },
    kind: { type: 'string', enum: ['infrastructure', 'hang', 'memory', 'configuration', 'data', 'unknown'] },
    reason: text,
    since: text,
  }),
  TaskState: objectOf({ id: integer, ...state }),
  TaskInfo: objectOf({ id: taskId, config }),
  RecentFault: objectOf({
    task: integer,
    at: integer,
    stage: text,
    className: text,
    exception: text,
    message: text,
    'sqlstate?': text,
    'table?': text,
    'column?': text,
    record: { type: 'object' },
  }),
  DeadLetters: objectOf({
    topic: nullableText,
    scanned: integer,
    'letters?': integer,
    hasMore: { type: 'boolean' },
    partitions: arrayOf(objectOf({ partition: integer, next: integer, end: integer })),
    ungrouped: integer,
    groups: arrayOf(
      objectOf({
        id: text,
        stage: text,
        'class?': text,
        'sqlstate?': text,
        'table?': text,
        'column?': text,
        'message?': text,
        count: integer,
        replayed: integer,
        first: letterPlace,
        last: letterPlace,
        'histogram?': objectOf({ from: integer, bucketMs: integer, counts: arrayOf(integer) }),
        examples: arrayOf({ type: 'object' }),
        source: text,
      }),
    ),
    faults: objectOf({ unanswered: arrayOf(integer), recent: arrayOf(reference('RecentFault')) }),
  }),
  PreviewedLetters: objectOf({
    topic: text,
    scanned: integer,
    hasMore: { type: 'boolean' },
    records: arrayOf({ type: 'object' }),
  }),
  Replay: objectOf({
    id: integer,
    state: { type: 'string', enum: ['RUNNING', 'STOPPED', 'DONE', 'FAILED'] },
    topic: text,
    group: text,
    selection: { type: 'object' },
    transforms: nullableText,
    rate: integer,
    read: integer,
    selected: integer,
    delivered: integer,
    dropped: integer,
    failed: integer,
    partitions: arrayOf(objectOf({ partition: integer, from: integer, next: integer, end: integer })),
    startedAt: text,
    startedBy: text,
    endedAt: nullableText,
    reason: nullableText,
  }),
  TaskPart: objectOf({ name: text, state: text, 'error?': text, counts: mapOf({}) }),
  ExpandedConnectors: mapOf(
    objectOf({ 'info?': reference('ConnectorInfo'), 'status?': reference('ConnectorStateInfo') }),
  ),
  ConnectorOffsets: objectOf({
    offsets: arrayOf(objectOf({ partition: { type: 'object' }, offset: { type: ['object', 'null'] } })),
  }),
  OffsetsPreview: objectOf({
    again: { type: ['integer', 'null'] },
    skipped: { type: ['integer', 'null'] },
    note: text,
    partitions: arrayOf(
      objectOf({
        partition: { type: 'object' },
        current: { type: ['object', 'null'] },
        offset: { type: ['object', 'null'] },
        again: { type: ['integer', 'null'] },
        skipped: { type: ['integer', 'null'] },
      }),
    ),
    offsets: arrayOf(objectOf({ partition: { type: 'object' }, offset: { type: ['object', 'null'] } })),
  }),
  ActiveTopics: mapOf(objectOf({ topics: texts })),
  PluginInfo: objectOf({ class: text, type: text, version: nullableText }),
  ConfigKeyInfo: objectOf({
    name: text,
    type: text,
    required: { type: 'boolean' },
    default_value: nullableText,
    importance: text,
    documentation: text,
    group: nullableText,
    order: integer,
    order_in_group: integer,
    width: text,
    display_name: text,
    dependents: texts,
  }),
  ConfigInfos: objectOf({
    name: text,
    error_count: integer,
    groups: texts,
    configs: arrayOf(
      objectOf({
        definition: { anyOf: [reference('ConfigKeyInfo'), { type: 'null' }] },
        value: objectOf({
          name: text,
          value: nullableText,
          recommended_values: arrayOf(nullableText),
          errors: texts,
          visible: { type: 'boolean' },
        }),
      }),
    ),
  }),
  LoggerLevel: objectOf({ level: text, last_modified: { type: ['integer', 'null'] } }),
  Cluster: objectOf({
    group: text,
    worker_id: text,
    leader_url: nullableText,
    is_leader: { type: 'boolean' },
    generation: integer,
    protocol: nullableText,
    rebalancing: { type: 'boolean' },
    draining: { type: 'boolean' },
    connectors: texts,
    tasks: texts,
    threads: arrayOf(
      objectOf({
        thread: { type: ['string', 'integer'] },
        purpose: text,
        tasks: texts,
        event_loop_delay_seconds: { type: 'number' },
      }),
    ),
    completed_rebalances: integer,
    'last_rebalance?': mapOf({}),
  }),
  GroupWorker: objectOf({
    worker_id: text,
    url: text,
    is_leader: { type: 'boolean' },
    state: { type: 'string', enum: ['running', 'draining', 'drained'] },
    connectors: integer,
    tasks: integer,
  }),
} as const satisfies Readonly<Record<string, JsonSchema>>;
