import type { ConnectorConfig } from '../connect/api.ts';
import type { TargetState } from '../connect/tasks/task-assignment.ts';
import { RequestError } from '../errors.ts';
import type { ConnectorInfo } from '../herder/connector-directory.ts';
import type { Actor } from '../herder/recorded-change.ts';
import type { ConnectorValidation } from '../herder/validation.ts';
import { StageTracker } from '../observe/stage.ts';
import { HttpError } from './error-mapping.ts';
import { readConfig, readCreateConnector, type ConfigBody } from './request-body.ts';
import { senderOf } from './request-sender.ts';
import {
  answer,
  answerEmpty,
  flag,
  pathName,
  withinTimeLimit,
  type Context,
  type Resource,
  type ResourceDependencies,
} from './resource.ts';
import { connectorInfoView, connectorStatusView, expandedView, taskConfigViews, taskStatusView } from './views.ts';
import { lookupTable } from '../data/lookup-table.ts';

/** `/connectors` and what lies below it, except offsets (docs/compatibility.md#the-management-api). */
export const connectorsResource: Resource = (router, dependencies) => {
  const { herder, validation, offsets } = dependencies;
  router.get('/connectors', (context) => {
    const expand = [context.query['expand'] ?? []].flat();
    answer(context, 200, expand.length === 0 ? herder.directory.names() : expandedView(herder.directory, expand));
  });

  router.post('/connectors', async (context) => {
    const body = await readCreateConnector(context.req);
    const config = withName(body.config, body.name);
    const initialState = parseInitialState(body.initialState);
    const valid = await requireValid(validation, config);
    const by = await senderOf(context, dependencies);
    const { initialOffsets } = body;
    let status: string | undefined;
    const before = initialOffsets && (async () => (status = await offsets.begin(body.name, valid, initialOffsets)));
    const put = herder.requests.putConnector(body.name, valid, { replace: false, initialState, by, before });
    const { info } = await withinTimeLimit(herder.stage, put);
    context.set('Location', locationOf(context, info.name));
    const view = connectorInfoView(info);
    answer(context, 201, status === undefined ? view : { ...view, offsets_status: status });
  });

  router.get('/connectors/:connector', (context) => {
    answer(context, 200, connectorInfoView(herder.directory.info(pathName(context, 'connector'))));
  });

  router.delete('/connectors/:connector', async (context) => {
    const by = await senderOf(context, dependencies);
    await withinTimeLimit(herder.stage, herder.requests.deleteConnector(pathName(context, 'connector'), by));
    answerEmpty(context, 204);
  });

  router.get('/connectors/:connector/config', (context) => {
    answer(context, 200, herder.directory.config(pathName(context, 'connector')));
  });

  router.put('/connectors/:connector/config', async (context) => {
    const name = pathName(context, 'connector');
    const config = withName(await readConfig(context.req), name);
    const valid = await requireValid(validation, config);
    const by = await senderOf(context, dependencies);
    const put = herder.requests.putConnector(name, valid, { replace: true, by });
    answerPut(context, await withinTimeLimit(herder.stage, put));
  });

  router.patch('/connectors/:connector/config', async (context) => {
    const name = pathName(context, 'connector');
    const patch = await readConfig(context.req);
    await withinTimeLimit(herder.stage, herder.requests.mustLead());
    const by = await senderOf(context, dependencies);
    answer(context, 200, connectorInfoView(await patchConfig(dependencies, name, patch, by)));
  });

  router.get('/connectors/:connector/status', (context) => {
    answer(context, 200, connectorStatusView(herder.directory.status(pathName(context, 'connector'))));
  });

  router.put('/connectors/:connector/pause', async (context) => {
    const by = await senderOf(context, dependencies);
    await withinTimeLimit(herder.stage, herder.requests.pauseConnector(pathName(context, 'connector'), by));
    answerEmpty(context, 202);
  });

  router.put('/connectors/:connector/resume', async (context) => {
    const by = await senderOf(context, dependencies);
    await withinTimeLimit(herder.stage, herder.requests.resumeConnector(pathName(context, 'connector'), by));
    answerEmpty(context, 202);
  });

  router.put('/connectors/:connector/stop', async (context) => {
    const by = await senderOf(context, dependencies);
    await withinTimeLimit(herder.stage, herder.requests.stopConnector(pathName(context, 'connector'), by));
    answerEmpty(context, 204);
  });

  router.post('/connectors/:connector/restart', async (context) => {
    const connector = pathName(context, 'connector');
    const includeTasks = flag(context, 'includeTasks');
    const onlyFailed = flag(context, 'onlyFailed');
    const by = await senderOf(context, dependencies);
    if (!includeTasks && !onlyFailed) {
      await withinTimeLimit(herder.stage, herder.requests.restartConnector(connector, by));
      answerEmpty(context, 204);
      return;
    }
    const restart = herder.requests.restartConnectorAndTasks({ connector, includeTasks, onlyFailed }, by);
    answer(context, 202, connectorStatusView(await withinTimeLimit(herder.stage, restart)));
  });

  router.get('/connectors/:connector/tasks', (context) => {
    answer(context, 200, taskConfigViews(herder.directory.taskConfigs(pathName(context, 'connector'))));
  });

  router.get('/connectors/:connector/tasks/:task/status', (context) => {
    const id = taskId(context);
    answer(context, 200, taskStatusView(id.task, herder.directory.taskStatus(id)));
  });

  // Beyond Connect: tables that a task cannot read do not end it, and show here.
  router.get('/connectors/:connector/tasks/:task/parts', async (context) => {
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
  });

  router.post('/connectors/:connector/tasks/:task/restart', async (context) => {
    const by = await senderOf(context, dependencies);
    await withinTimeLimit(herder.stage, herder.requests.restartTask(taskId(context), by));
    answerEmpty(context, 204);
  });
};

export async function requireValid(validation: ConnectorValidation, config: ConfigBody): Promise<ConnectorConfig> {
  const stage = new StageTracker();
  return withinTimeLimit(stage, validation.requireValid(config, stage));
}

/** `null` takes a key away. When someone else changes the configuration meanwhile, the patch is put over theirs. */
async function patchConfig(
  { herder, validation }: Pick<ResourceDependencies, 'herder' | 'validation'>,
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

/** Absolute, as Connect gives it; by the advertised name, because `Host` is whatever the client says. */
function locationOf(context: Context, name: string): string {
  return `${String(context.state['ownUrl'])}/connectors/${encodeURIComponent(name)}`;
}

/** The name in the configuration is the connector's; where both are given they must agree. */
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
