import type { ConnectorOffsets } from '../herder/connector-offsets.ts';
import type { Herder } from '../herder/herder.ts';
import { arrayOf, BOOLEAN, mapOf, TEXT } from '../json/open-api.ts';
import {
  CONNECTOR_INFO,
  CONNECTOR_STATE_INFO,
  EXPANDED_CONNECTORS,
  TASK_INFO,
  TASK_PART,
  TASK_STATE,
} from './answers.ts';
import type { ConnectorConfig } from '../connect/api.ts';
import type { TargetState } from '../connect/task-assignment.ts';
import { RequestError } from '../errors.ts';
import type { ConnectorInfo } from '../herder/connector-directory.ts';
import type { Actor } from '../herder/recorded-change.ts';
import type { ConnectorValidation } from '../herder/validation.ts';
import { StageTracker } from '../observe/stage.ts';
import { HttpError } from './error-mapping.ts';
import {
  CONFIG_BODY,
  CREATE_CONNECTOR_BODY,
  readConfig,
  readCreateConnector,
  type ConfigBody,
} from './request-body.ts';
import type { RequestSenders } from './request-sender.ts';
import { answer, answerEmpty, flag, pathName, withinTimeLimit, type Context, type Route } from './resource.ts';
import { connectorInfoView, connectorStatusView, expandedView, taskConfigViews, taskStatusView } from './views.ts';
import { lookupTable } from '../data/lookup-table.ts';

/**
 * `/connectors` and the paths below it that concern the connectors and tasks themselves
 * (docs/compatibility.md#the-management-api). The routes of offsets, topics, history, dead-letter records and requests
 * between workers are in other resources.
 */
export function connectorsResource(
  herder: Herder,
  validation: ConnectorValidation,
  offsets: ConnectorOffsets,
  senders: RequestSenders,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/connectors',
      summary: 'The names of the connectors, or a map with the parts that `expand` names',
      tag: 'connectors',
      query: {
        expand: {
          description: '`status`, `info`, or both',
          schema: arrayOf({ type: 'string', enum: ['status', 'info'] }),
        },
      },
      answers: { 200: { anyOf: [arrayOf(TEXT), EXPANDED_CONNECTORS] } },
      handle: (context) => {
        const expand = [context.query['expand'] ?? []].flat();
        answer(context, 200, expand.length === 0 ? herder.directory.names() : expandedView(herder.directory, expand));
      },
    },
    {
      method: 'POST',
      path: '/connectors',
      summary: 'Create a connector; 409 if the name exists',
      tag: 'connectors',
      body: CREATE_CONNECTOR_BODY,
      answers: { 201: CONNECTOR_INFO },
      handle: async (context) => {
        const body = await readCreateConnector(context.req);
        const config = withName(body.config, body.name);
        const initialState = parseInitialState(body.initialState);
        const valid = await requireValid(validation, config);
        const by = await senders.of(context);
        const { initialOffsets } = body;
        let status: string | undefined;
        const before = initialOffsets && (async () => (status = await offsets.begin(body.name, valid, initialOffsets)));
        const put = herder.requests.putConnector(body.name, valid, { replace: false, initialState, by, before });
        const { info } = await withinTimeLimit(herder.stage, put);
        context.set('Location', locationOf(context, info.name));
        const view = connectorInfoView(info);
        answer(context, 201, status === undefined ? view : { ...view, offsets_status: status });
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector',
      summary: 'Configuration and tasks of a connector',
      tag: 'connectors',
      answers: { 200: CONNECTOR_INFO },
      handle: (context) => {
        answer(context, 200, connectorInfoView(herder.directory.info(pathName(context, 'connector'))));
      },
    },
    {
      method: 'DELETE',
      path: '/connectors/:connector',
      summary: 'Delete a connector',
      tag: 'connectors',
      answers: { 204: null },
      handle: async (context) => {
        const by = await senders.of(context);
        await withinTimeLimit(herder.stage, herder.requests.deleteConnector(pathName(context, 'connector'), by));
        answerEmpty(context, 204);
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector/config',
      summary: 'The configuration of a connector',
      tag: 'connectors',
      answers: { 200: mapOf({ type: 'string' }) },
      handle: (context) => {
        answer(context, 200, herder.directory.config(pathName(context, 'connector')));
      },
    },
    {
      method: 'PUT',
      path: '/connectors/:connector/config',
      summary: 'Create a connector (201), or replace its configuration (200)',
      tag: 'connectors',
      body: CONFIG_BODY,
      answers: { 200: CONNECTOR_INFO, 201: CONNECTOR_INFO },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const config = withName(await readConfig(context.req), name);
        const valid = await requireValid(validation, config);
        const by = await senders.of(context);
        const put = herder.requests.putConnector(name, valid, { replace: true, by });
        answerPut(context, await withinTimeLimit(herder.stage, put));
      },
    },
    {
      method: 'PATCH',
      path: '/connectors/:connector/config',
      summary: 'Change single settings of a connector; `null` removes one',
      tag: 'connectors',
      body: CONFIG_BODY,
      answers: { 200: CONNECTOR_INFO },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const patch = await readConfig(context.req);
        await withinTimeLimit(herder.stage, herder.requests.mustLead());
        const by = await senders.of(context);
        answer(context, 200, connectorInfoView(await patchConfig(herder, validation, name, patch, by)));
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector/status',
      summary: 'The states of a connector and its tasks',
      tag: 'connectors',
      answers: { 200: CONNECTOR_STATE_INFO },
      handle: (context) => {
        answer(context, 200, connectorStatusView(herder.directory.status(pathName(context, 'connector'))));
      },
    },
    {
      method: 'PUT',
      path: '/connectors/:connector/pause',
      summary: 'Pause a connector; its tasks keep their resources',
      tag: 'connectors',
      answers: { 202: null },
      handle: async (context) => {
        const by = await senders.of(context);
        await withinTimeLimit(herder.stage, herder.requests.pauseConnector(pathName(context, 'connector'), by));
        answerEmpty(context, 202);
      },
    },
    {
      method: 'PUT',
      path: '/connectors/:connector/resume',
      summary: 'Resume a paused or stopped connector',
      tag: 'connectors',
      answers: { 202: null },
      handle: async (context) => {
        const by = await senders.of(context);
        await withinTimeLimit(herder.stage, herder.requests.resumeConnector(pathName(context, 'connector'), by));
        answerEmpty(context, 202);
      },
    },
    {
      method: 'PUT',
      path: '/connectors/:connector/stop',
      summary: 'Stop a connector; its tasks end',
      tag: 'connectors',
      answers: { 204: null },
      handle: async (context) => {
        const by = await senders.of(context);
        await withinTimeLimit(herder.stage, herder.requests.stopConnector(pathName(context, 'connector'), by));
        answerEmpty(context, 204);
      },
    },
    {
      method: 'POST',
      path: '/connectors/:connector/restart',
      summary: 'Restart a connector, with its tasks or only what failed',
      tag: 'connectors',
      query: {
        includeTasks: { description: 'restart the tasks too', schema: BOOLEAN },
        onlyFailed: { description: 'restart only what is FAILED', schema: BOOLEAN },
      },
      answers: { 202: CONNECTOR_STATE_INFO, 204: null },
      handle: async (context) => {
        const connector = pathName(context, 'connector');
        const includeTasks = flag(context, 'includeTasks');
        const onlyFailed = flag(context, 'onlyFailed');
        const by = await senders.of(context);
        if (!includeTasks && !onlyFailed) {
          await withinTimeLimit(herder.stage, herder.requests.restartConnector(connector, by));
          answerEmpty(context, 204);
          return;
        }
        const restart = herder.requests.restartConnectorAndTasks({ connector, includeTasks, onlyFailed }, by);
        answer(context, 202, connectorStatusView(await withinTimeLimit(herder.stage, restart)));
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector/tasks',
      summary: 'The configurations of the tasks',
      tag: 'tasks',
      answers: { 200: arrayOf(TASK_INFO) },
      handle: (context) => {
        answer(context, 200, taskConfigViews(herder.directory.taskConfigs(pathName(context, 'connector'))));
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector/tasks/:task/status',
      summary: 'The state of a task',
      tag: 'tasks',
      answers: { 200: TASK_STATE },
      handle: (context) => {
        const id = taskId(context);
        answer(context, 200, taskStatusView(id.task, herder.directory.taskStatus(id)));
      },
    },
    // Connect does not have this route. If a task cannot read a table, the task does not fail; this route shows the state
    // of the table.
    {
      method: 'GET',
      path: '/connectors/:connector/tasks/:task/parts',
      summary: 'Tables and topics of a task, each with its state and counts',
      tag: 'tasks',
      answers: { 200: arrayOf(TASK_PART) },
      handle: async (context) => {
        const parts = await withinTimeLimit(herder.stage, herder.requests.taskParts(taskId(context)));
        answer(
          context,
          200,
          parts.map(({ name, state, error, counts }) => ({
            name,
            state,
            ...(error === undefined ? {} : { error }),
            counts,
          })),
        );
      },
    },
    {
      method: 'POST',
      path: '/connectors/:connector/tasks/:task/restart',
      summary: 'Restart a task',
      tag: 'tasks',
      answers: { 204: null },
      handle: async (context) => {
        const by = await senders.of(context);
        await withinTimeLimit(herder.stage, herder.requests.restartTask(taskId(context), by));
        answerEmpty(context, 204);
      },
    },
  ];
}

export async function requireValid(validation: ConnectorValidation, config: ConfigBody): Promise<ConnectorConfig> {
  const stage = new StageTracker();
  return withinTimeLimit(stage, validation.requireValid(config, stage));
}

/**
 * Applies a patch to a configuration; `null` removes a key. If the configuration changes in the meantime, the patch is
 * applied to the new one.
 */
async function patchConfig(
  herder: Herder,
  validation: ConnectorValidation,
  name: string,
  patch: ConfigBody,
  by: Actor,
): Promise<ConnectorInfo> {
  for (;;) {
    const base = herder.directory.config(name);
    const merged = Object.entries({ ...base, ...patch }).filter(([, value]) => value !== null);
    const valid = await requireValid(validation, Object.fromEntries(merged));
    const info = await withinTimeLimit(herder.stage, herder.requests.changeConfig(name, base, valid, by));
    if (info !== undefined) return info;
  }
}

/** The answer of `PUT /connectors/{connector}/config`. */
export function answerPut(
  context: Context,
  { created, info }: { readonly created: boolean; readonly info: ConnectorInfo },
): void {
  if (created) context.set('Location', locationOf(context, info.name));
  answer(context, created ? 201 : 200, connectorInfoView(info));
}

/**
 * An absolute URL, as in Connect. It has the advertised address of this worker, because the client controls the header
 * `Host`.
 */
function locationOf(context: Context, name: string): string {
  return `${String(context.state['ownUrl'])}/connectors/${encodeURIComponent(name)}`;
}

/** Adds the name of the connector to a configuration. A name in the configuration must be the same. */
export function withName(config: ConfigBody, name: string): ConfigBody {
  const given = config['name'];
  if (/\p{Surrogate}/u.test(name)) {
    throw new RequestError(400, "The connector's name has half of a character (a surrogate without the other one)");
  }
  if (given !== undefined && given !== null && given !== name) {
    throw new RequestError(
      400,
      `Connector name configuration (${given}) doesn't match connector name in the URL (${name})`,
    );
  }
  return { ...config, name };
}

const INITIAL_STATES: Readonly<Record<string, TargetState>> = lookupTable({
  RUNNING: 'STARTED',
  PAUSED: 'PAUSED',
  STOPPED: 'STOPPED',
});

export function parseInitialState(text: string | undefined): TargetState | undefined {
  if (text === undefined) return undefined;
  const state = INITIAL_STATES[text.toUpperCase()];
  if (state === undefined) {
    throw new RequestError(400, `The initial_state ${text} is not one of RUNNING, PAUSED, STOPPED`);
  }
  return state;
}

function taskId(context: Context) {
  const text = pathName(context, 'task');
  const task = Number(text);
  if (!/^[+-]?\d+$/.test(text) || task !== (task | 0)) throw new HttpError(404);
  return { connector: pathName(context, 'connector'), task };
}
