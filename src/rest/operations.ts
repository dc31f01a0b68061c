import { arrayOf, mapOf, objectOf, type JsonSchema, type QueryParameter } from '../json/open-api.ts';
import { ref } from './answer-schemas.ts';
import { PREVIEW_LETTERS_BODY, REPLAY_LETTERS_BODY } from '../operate/dead-letters/dead-letters-resource.ts';
import { DRAIN_BODY, DRAIN_ORDER_BODY } from '../operate/drain/drain-body.ts';
import { OFFSETS_BODY, TARGET_BODY } from './offsets-body.ts';
import { PREVIEW_BODY } from '../operate/preview/preview-body.ts';
import { CONFIG_BODY, CREATE_CONNECTOR_BODY, TASK_CONFIGS_BODY } from './request-body.ts';

/** What the OpenAPI description says of a route. */
export interface Operation {
  readonly summary: string;
  readonly tag: 'worker' | 'connectors' | 'tasks' | 'offsets' | 'plugins' | 'loggers' | 'between workers';
  /** Query parameters. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  readonly body?: JsonSchema;
  /** The answers by status; `null` is an answer without a body, a text the content type of one that is not JSON. */
  readonly answers: Readonly<Record<number, JsonSchema | string | null>>;
}

const isTrue: JsonSchema = { type: 'boolean' };
const names = arrayOf({ type: 'string' });

/** Every route of the management API, by method and path as the router has it. A test compares them. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /': {
    summary: 'Version of Connect that the worker behaves as, and the id of the Kafka cluster',
    tag: 'worker',
    answers: { 200: ref('ServerInfo') },
  },
  'GET /health': {
    summary: 'Whether the worker is ready; with `connectors` how the connectors are doing',
    tag: 'worker',
    query: {
      connectors: {
        description: 'count the connectors by their verdict, and name those that need attention',
        schema: isTrue,
      },
      fail: {
        description: 'verdicts, separated by commas: 503 when a connector has one of them',
        schema: { type: 'string' },
      },
      local: { description: 'only the connectors with tasks on this worker, by these tasks', schema: isTrue },
    },
    answers: {
      200: { anyOf: [ref('WorkerStatus'), ref('ConnectorsHealth')] },
      500: ref('WorkerStatus'),
      503: { anyOf: [ref('WorkerStatus'), ref('ConnectorsHealth')] },
    },
  },
  'GET /metrics': {
    summary: 'Metrics in the text format of Prometheus',
    tag: 'worker',
    answers: { 200: 'text/plain' },
  },
  'GET /cluster': {
    summary: 'The place of this worker in its group, and the last rebalance; 404 for a standalone worker',
    tag: 'worker',
    answers: { 200: ref('Cluster') },
  },
  'GET /cluster/tasks': {
    summary: 'Figures of the tasks of this worker, for another worker',
    tag: 'between workers',
    answers: { 200: ref('TaskFigures') },
  },
  'GET /cluster/workers': {
    summary:
      'The workers of the group: state, and how many connectors and tasks each has, or has left while it is drained',
    tag: 'worker',
    answers: { 200: arrayOf(ref('GroupWorker')) },
  },
  'PUT /cluster/workers/:worker/drain': {
    summary:
      'Drain a worker: its work moves to the others; `{"drain": false}` ends that. 409 for the last one that takes work',
    tag: 'worker',
    body: DRAIN_BODY,
    answers: { 202: ref('GroupWorker') },
  },
  'DELETE /cluster/workers/:worker/drain': {
    summary: 'Let a worker that is drained take work again',
    tag: 'worker',
    answers: { 202: ref('GroupWorker') },
  },
  'PUT /cluster/drain': {
    summary: 'Drain this worker, or end that, for the leader',
    tag: 'between workers',
    body: DRAIN_ORDER_BODY,
    answers: { 204: null },
  },
  'GET /openapi.json': { summary: 'This description', tag: 'worker', answers: { 200: { type: 'object' } } },
  'GET /connectors': {
    summary: 'The names of the connectors, or a map with what `expand` asks for',
    tag: 'connectors',
    query: {
      expand: {
        description: '`status`, `info`, or both',
        schema: arrayOf({ type: 'string', enum: ['status', 'info'] }),
      },
    },
    answers: { 200: { anyOf: [names, ref('ExpandedConnectors')] } },
  },
  'POST /connectors': {
    summary: 'Create a connector; 409 if there is one of this name',
    tag: 'connectors',
    body: CREATE_CONNECTOR_BODY,
    answers: { 201: ref('ConnectorInfo') },
  },
  'GET /connectors/:connector': {
    summary: 'Configuration and tasks of a connector',
    tag: 'connectors',
    answers: { 200: ref('ConnectorInfo') },
  },
  'DELETE /connectors/:connector': { summary: 'Delete a connector', tag: 'connectors', answers: { 204: null } },
  'GET /connectors/:connector/config': {
    summary: 'The configuration of a connector',
    tag: 'connectors',
    answers: { 200: mapOf({ type: 'string' }) },
  },
  'PUT /connectors/:connector/config': {
    summary: 'Create a connector (201), or replace its configuration (200)',
    tag: 'connectors',
    body: CONFIG_BODY,
    answers: { 200: ref('ConnectorInfo'), 201: ref('ConnectorInfo') },
  },
  'PATCH /connectors/:connector/config': {
    summary: 'Change single settings of a connector; `null` removes one',
    tag: 'connectors',
    body: CONFIG_BODY,
    answers: { 200: ref('ConnectorInfo') },
  },
  'GET /connectors/:connector/history': {
    summary: 'What was changed about a connector, by whom, the newest first; also of a connector that was deleted',
    tag: 'connectors',
    answers: { 200: arrayOf(ref('ConnectorChange')) },
  },
  'POST /connectors/:connector/history/:n/restore': {
    summary: 'Put back the configuration of after a change; creates the connector again (201) if it was deleted',
    tag: 'connectors',
    answers: { 200: ref('ConnectorInfo'), 201: ref('ConnectorInfo') },
  },
  'GET /connectors/:connector/status': {
    summary: 'The states of a connector and its tasks',
    tag: 'connectors',
    answers: { 200: ref('ConnectorStateInfo') },
  },
  'GET /connectors/:connector/health': {
    summary: 'One word for how a connector is doing, with its reasons and the figures of its tasks',
    tag: 'connectors',
    query: { local: { description: 'only the figures of the tasks of this worker', schema: isTrue } },
    answers: { 200: { anyOf: [ref('ConnectorHealth'), ref('TaskFigures')] } },
  },
  'PUT /connectors/:connector/pause': {
    summary: 'Pause a connector; its tasks keep what they hold',
    tag: 'connectors',
    answers: { 202: null },
  },
  'PUT /connectors/:connector/resume': {
    summary: 'Resume a paused or stopped connector',
    tag: 'connectors',
    answers: { 202: null },
  },
  'PUT /connectors/:connector/stop': {
    summary: 'Stop a connector; its tasks end',
    tag: 'connectors',
    answers: { 204: null },
  },
  'POST /connectors/:connector/restart': {
    summary: 'Restart a connector, with its tasks or only what failed',
    tag: 'connectors',
    query: {
      includeTasks: { description: 'restart the tasks too', schema: isTrue },
      onlyFailed: { description: 'restart only what is FAILED', schema: isTrue },
    },
    answers: { 202: ref('ConnectorStateInfo'), 204: null },
  },
  'GET /connectors/:connector/tasks': {
    summary: 'The configurations of the tasks',
    tag: 'tasks',
    answers: { 200: arrayOf(ref('TaskInfo')) },
  },
  'POST /connectors/:connector/tasks': {
    summary: 'New task configurations, from another worker',
    tag: 'between workers',
    body: TASK_CONFIGS_BODY,
    answers: { 204: null },
  },
  'PUT /connectors/:connector/fence': {
    summary: 'Fence the producers of earlier tasks, for another worker',
    tag: 'between workers',
    answers: { 204: null },
  },
  'GET /connectors/:connector/tasks/:task/status': {
    summary: 'The state of a task',
    tag: 'tasks',
    answers: { 200: ref('TaskState') },
  },
  'GET /connectors/:connector/tasks/:task/parts': {
    summary: 'Tables and topics of a task, each with its state and counts',
    tag: 'tasks',
    answers: { 200: arrayOf(ref('TaskPart')) },
  },
  'GET /connectors/:connector/tasks/:task/faults': {
    summary: 'Records of a task that failed lately, oldest first',
    tag: 'tasks',
    answers: { 200: arrayOf(ref('RecentFault')) },
  },
  'GET /connectors/:connector/dead-letters': {
    summary: 'Dead letters of a sink in groups, and the last faults of its tasks',
    tag: 'connectors',
    query: { limit: { description: 'Records of the topic that are looked at, at most', schema: { type: 'integer' } } },
    answers: { 200: ref('DeadLetters') },
  },
  'POST /connectors/:connector/dead-letters/preview': {
    summary: 'What would happen to dead letters now; nothing is written',
    tag: 'connectors',
    body: PREVIEW_LETTERS_BODY,
    answers: { 200: ref('PreviewedLetters') },
  },
  'POST /connectors/:connector/dead-letters/replay': {
    summary:
      'Send dead letters through the pipeline of their sink again, in the background; 409 while a replay is running',
    tag: 'connectors',
    body: REPLAY_LETTERS_BODY,
    answers: { 201: ref('Replay') },
  },
  'GET /connectors/:connector/dead-letters/replays': {
    summary: 'The last 20 replays of a connector, the newest first',
    tag: 'connectors',
    answers: { 200: objectOf({ replays: arrayOf(ref('Replay')) }) },
  },
  'GET /connectors/:connector/dead-letters/replay/:id': {
    summary: 'How far a replay has come',
    tag: 'connectors',
    answers: { 200: ref('Replay') },
  },
  'DELETE /connectors/:connector/dead-letters/replay/:id': {
    summary: 'Stop a replay',
    tag: 'connectors',
    answers: { 200: ref('Replay') },
  },
  'POST /connectors/:connector/tasks/:task/restart': {
    summary: 'Restart a task',
    tag: 'tasks',
    answers: { 204: null },
  },
  'GET /connectors/:connector/offsets': {
    summary: 'The offsets of a connector',
    tag: 'offsets',
    answers: { 200: ref('ConnectorOffsets') },
  },
  'POST /connectors/:connector/offsets/preview': {
    summary: 'How many records come again or are skipped from other offsets; nothing is written',
    tag: 'offsets',
    body: TARGET_BODY,
    answers: { 200: ref('OffsetsPreview') },
  },
  'PATCH /connectors/:connector/offsets': {
    summary: 'Alter offsets of a stopped connector',
    tag: 'offsets',
    body: OFFSETS_BODY,
    answers: { 200: ref('Message') },
  },
  'DELETE /connectors/:connector/offsets': {
    summary: 'Reset the offsets of a stopped connector',
    tag: 'offsets',
    answers: { 200: ref('Message') },
  },
  'GET /connectors/:connector/topics': {
    summary: 'The topics that a connector has used',
    tag: 'connectors',
    answers: { 200: ref('ActiveTopics') },
  },
  'PUT /connectors/:connector/topics/reset': {
    summary: 'Forget the topics that a connector has used',
    tag: 'connectors',
    answers: { 202: null },
  },
  'GET /connector-plugins': {
    summary: 'The plugins of this worker',
    tag: 'plugins',
    query: { connectorsOnly: { description: 'connectors alone (the default), or all plugins', schema: isTrue } },
    answers: { 200: arrayOf(ref('PluginInfo')) },
  },
  'GET /connector-plugins/:plugin/config': {
    summary: 'The options of a plugin',
    tag: 'plugins',
    query: { version: { description: 'a version, or a range of Maven', schema: { type: 'string' } } },
    answers: { 200: arrayOf(ref('ConfigKeyInfo')) },
  },
  'PUT /connector-plugins/:plugin/config/validate': {
    summary: 'Validate the configuration of a connector; errors are in the answer',
    tag: 'plugins',
    body: CONFIG_BODY,
    answers: { 200: ref('ConfigInfos') },
  },
  'POST /connector-plugins/:plugin/preview': {
    summary: 'What a sink would do with some messages: records, rows, statements and faults; nothing is written',
    tag: 'plugins',
    body: PREVIEW_BODY,
    answers: { 200: { type: 'object' } },
  },
  'GET /admin/loggers': {
    summary: 'The loggers that have a level',
    tag: 'loggers',
    answers: { 200: mapOf(ref('LoggerLevel')) },
  },
  'GET /admin/loggers/:logger': {
    summary: 'The level of a logger',
    tag: 'loggers',
    answers: { 200: ref('LoggerLevel') },
  },
  'PUT /admin/loggers/:logger': {
    summary: 'Set the level of a logger, on this worker (200, with the loggers it affects) or on all (204)',
    tag: 'loggers',
    query: { scope: { description: '`worker` (the default) or `cluster`', schema: { type: 'string' } } },
    body: { type: 'object', properties: { level: { type: 'string' } }, required: ['level'] },
    answers: { 200: names, 204: null },
  },
};
