/** JSON Schema 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const text: JsonSchema = { type: 'string' };
const nullableText: JsonSchema = { type: ['string', 'null'] };
const integer: JsonSchema = { type: 'integer' };
const texts = listOf(text);

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

export function ref(name: keyof typeof ANSWER_SCHEMAS): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object with exactly these properties; those whose names end with `?` may be absent. */
function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    additionalProperties: false,
  };
}

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const taskId = objectOf({ connector: text, task: integer });
const states = { type: 'string', enum: ['RUNNING', 'PAUSED', 'STOPPED', 'FAILED', 'UNASSIGNED', 'RESTARTING'] };
const state = { state: states, worker_id: text, 'version?': text, 'trace?': text };
const connectorType: JsonSchema = { type: 'string', enum: ['sink', 'source', 'unknown'] };
const config = mapOf(text);

/** The bodies of the answers, by the names of Connect's classes (org.apache.kafka.connect.runtime.rest.entities) where it has them. */
export const ANSWER_SCHEMAS = {
  ErrorMessage: objectOf({ error_code: integer, message: nullableText }),
  ServerInfo: objectOf({ version: text, commit: text, kafka_cluster_id: text }),
  WorkerStatus: objectOf({ status: { type: 'string', enum: ['healthy', 'unhealthy', 'starting'] }, message: text }),
  Message: objectOf({ message: text }),
  ConnectorInfo: objectOf({ name: text, config, tasks: listOf(taskId), type: connectorType }),
  ConnectorStateInfo: objectOf({
    name: text,
    connector: objectOf(state),
    tasks: listOf(reference('TaskState')),
    type: connectorType,
  }),
  TaskState: objectOf({ id: integer, ...state }),
  TaskInfo: objectOf({ id: taskId, config }),
  TaskPart: objectOf({ name: text, state: text, 'error?': text, counts: mapOf({}) }),
  ExpandedConnectors: mapOf(
    objectOf({ 'info?': reference('ConnectorInfo'), 'status?': reference('ConnectorStateInfo') }),
  ),
  ConnectorOffsets: objectOf({
    offsets: listOf(objectOf({ partition: { type: 'object' }, offset: { type: ['object', 'null'] } })),
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
    configs: listOf(
      objectOf({
        definition: { anyOf: [reference('ConfigKeyInfo'), { type: 'null' }] },
        value: objectOf({
          name: text,
          value: nullableText,
          recommended_values: listOf(nullableText),
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
    connectors: texts,
    tasks: texts,
    threads: listOf(
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
} as const satisfies Readonly<Record<string, JsonSchema>>;
