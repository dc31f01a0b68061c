import type { ConnectorConfig } from '../../connect/api.ts';
import { RequestError } from '../../errors.ts';
import type { ConnectorInfo } from '../../herder/connector-directory.ts';
import type { HistoryItem } from './connector-history.ts';
import { answerPut, requireValid } from '../../rest/connectors-resource.ts';
import { senderOf } from '../../rest/request-sender.ts';
import {
  answer,
  pathName,
  withinTimeLimit,
  type Context,
  type Resource,
  type ResourceDependencies,
} from '../../rest/resource.ts';

const STATES = { STARTED: 'RUNNING', PAUSED: 'PAUSED', STOPPED: 'STOPPED' } as const;

/** Beyond Connect: what was changed about a connector and by whom, and the way back. */
export const historyResource: Resource = (router, dependencies) => {
  const { herder, history, validation } = dependencies;

  router.get('/connectors/:connector/history', async (context) => {
    const items = history.items(pathName(context, 'connector'));
    answer(context, 200, (await withinTimeLimit(herder.stage, items)).map(itemView));
  });

  router.post('/connectors/:connector/history/:n/restore', async (context) => {
    const name = pathName(context, 'connector');
    const n = numberOf(context);
    const { config, state } = await configAt(dependencies, name, n);
    const valid = await requireValid(validation, config);
    answerPut(context, await restore(context, dependencies, { name, n, valid, state }));
  });
};

/** Only the leader may go on with it. */
export async function configAt({ herder, history }: ResourceDependencies, name: string, n: number) {
  await withinTimeLimit(herder.stage, herder.requests.mustLead());
  return withinTimeLimit(herder.stage, history.configAt(name, n));
}

interface Restored {
  readonly name: string;
  readonly n: number;
  readonly valid: ConnectorConfig;
  readonly state: keyof typeof STATES;
}

export async function restore(
  context: Context,
  dependencies: ResourceDependencies,
  { name, n, valid, state }: Restored,
): Promise<{ readonly created: boolean; readonly info: ConnectorInfo }> {
  const { herder } = dependencies;
  const by = await senderOf(context, dependencies);
  // Of a connector that was deleted; one that is there keeps its state.
  const initialState = state === 'STARTED' ? undefined : state;
  const put = herder.requests.putConnector(name, valid, { replace: true, initialState, by, restoredFrom: n });
  return withinTimeLimit(herder.stage, put);
}

export function numberOf(context: Context): number {
  const text = pathName(context, 'n');
  const n = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(n))
    throw new RequestError(404, 'A change is a number of the history');
  return n;
}

function itemView({ entry, difference }: HistoryItem) {
  const { n, atMs, what, by, state, worker = null, task, automatic, restoredFrom } = entry;
  return {
    n,
    at: new Date(atMs).toISOString(),
    what,
    by,
    state: STATES[state],
    worker,
    ...(task === undefined ? {} : { task }),
    ...(automatic === true ? { automatic } : {}),
    ...(restoredFrom === undefined ? {} : { restoredFrom }),
    difference,
  };
}
