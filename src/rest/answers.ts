import {
  ANY,
  ANY_OBJECT,
  arrayOf,
  BOOLEAN,
  component,
  enumOf,
  INTEGER,
  mapOf,
  nullable,
  objectOf,
  TEXT,
  type ShapeOf,
} from '../json/open-api.ts';

/**
 * The bodies of answers, named after Connect's classes (org.apache.kafka.connect.runtime.rest.entities) if they exist
 * there.
 */

export const CONNECTOR_TYPE = enumOf(['sink', 'source', 'unknown']);
const STATE = {
  state: enumOf(['RUNNING', 'PAUSED', 'STOPPED', 'FAILED', 'UNASSIGNED', 'RESTARTING']),
  worker_id: TEXT,
  'version?': TEXT,
  'trace?': TEXT,
};
const TASK_ID = objectOf({ connector: TEXT, task: INTEGER });
const OFFSET = { partition: ANY_OBJECT, offset: nullable(ANY_OBJECT) };

export const ERROR_MESSAGE = component('ErrorMessage', objectOf({ error_code: INTEGER, message: nullable(TEXT) }));
export const SERVER_INFO = component('ServerInfo', objectOf({ version: TEXT, commit: TEXT, kafka_cluster_id: TEXT }));
export const WORKER_STATUS = component(
  'WorkerStatus',
  objectOf({ status: enumOf(['healthy', 'unhealthy', 'starting']), message: TEXT }),
);
export const MESSAGE = component('Message', objectOf({ message: TEXT }));
export const CONNECTOR_INFO = component(
  'ConnectorInfo',
  objectOf({
    name: TEXT,
    config: mapOf(TEXT),
    tasks: arrayOf(TASK_ID),
    type: CONNECTOR_TYPE,
    'offsets_status?': TEXT,
  }),
);
export type ConnectorInfoAnswer = ShapeOf<typeof CONNECTOR_INFO>;
export const TASK_STATE = component('TaskState', objectOf({ id: INTEGER, ...STATE }));
export type TaskStateAnswer = ShapeOf<typeof TASK_STATE>;
export const CONNECTOR_STATE_INFO = component(
  'ConnectorStateInfo',
  objectOf({ name: TEXT, connector: objectOf(STATE), tasks: arrayOf(TASK_STATE), type: CONNECTOR_TYPE }),
);
export type ConnectorStateAnswer = ShapeOf<typeof CONNECTOR_STATE_INFO>;
export const TASK_INFO = component('TaskInfo', objectOf({ id: TASK_ID, config: mapOf(TEXT) }));
export type TaskInfoAnswer = ShapeOf<typeof TASK_INFO>;
export const TASK_PART = component(
  'TaskPart',
  objectOf({ name: TEXT, state: TEXT, 'error?': TEXT, counts: mapOf(ANY) }),
);
export const EXPANDED_CONNECTORS = component(
  'ExpandedConnectors',
  mapOf(objectOf({ 'info?': CONNECTOR_INFO, 'status?': CONNECTOR_STATE_INFO })),
);
export const CONNECTOR_OFFSETS = component('ConnectorOffsets', objectOf({ offsets: arrayOf(objectOf(OFFSET)) }));
export const OFFSETS_PREVIEW = component(
  'OffsetsPreview',
  objectOf({
    again: nullable(INTEGER),
    skipped: nullable(INTEGER),
    note: TEXT,
    partitions: arrayOf(
      objectOf({
        ...OFFSET,
        current: nullable(ANY_OBJECT),
        again: nullable(INTEGER),
        skipped: nullable(INTEGER),
      }),
    ),
    offsets: arrayOf(objectOf(OFFSET)),
  }),
);
export const ACTIVE_TOPICS = component('ActiveTopics', mapOf(objectOf({ topics: arrayOf(TEXT) })));
export const PLUGIN_INFO = component('PluginInfo', objectOf({ class: TEXT, type: TEXT, version: nullable(TEXT) }));
export const CONFIG_KEY_INFO = component(
  'ConfigKeyInfo',
  objectOf({
    name: TEXT,
    type: TEXT,
    required: BOOLEAN,
    default_value: nullable(TEXT),
    importance: TEXT,
    documentation: TEXT,
    group: nullable(TEXT),
    order: INTEGER,
    order_in_group: INTEGER,
    width: TEXT,
    display_name: TEXT,
    dependents: arrayOf(TEXT),
  }),
);
export const CONFIG_INFOS = component(
  'ConfigInfos',
  objectOf({
    name: TEXT,
    error_count: INTEGER,
    groups: arrayOf(TEXT),
    configs: arrayOf(
      objectOf({
        definition: nullable(CONFIG_KEY_INFO),
        value: objectOf({
          name: TEXT,
          value: nullable(TEXT),
          recommended_values: arrayOf(nullable(TEXT)),
          errors: arrayOf(TEXT),
          visible: BOOLEAN,
        }),
      }),
    ),
  }),
);
export type ConfigInfosAnswer = ShapeOf<typeof CONFIG_INFOS>;
export const LOGGER_LEVEL = component('LoggerLevel', objectOf({ level: TEXT, last_modified: nullable(INTEGER) }));
export type LoggerLevelAnswer = ShapeOf<typeof LOGGER_LEVEL>;
