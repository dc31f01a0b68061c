import type { Herder } from '../../herder/herder.ts';
import type { Actor } from '../../herder/recorded-change.ts';
import type { ConnectorValidation } from '../../herder/validation.ts';
import { arrayOf } from '../../json/open-api.ts';
import { CONNECTOR_INFO } from '../../rest/answers.ts';
import { CONNECTOR_CHANGE, type ConnectorChangeAnswer } from './history-answers.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import { RequestError } from '../../errors.ts';
import type { ConnectorInfo } from '../../herder/connector-directory.ts';
import type { ConnectorHistory, HistoryItem } from './connector-history.ts';
import { answerPut, requireValid } from '../../rest/connectors-resource.ts';
import type { RequestSenders } from '../../rest/request-sender.ts';
import { answer, pathName, withinTimeLimit, type Context, type Route } from '../../rest/resource.ts';

const STATES = { STARTED: 'RUNNING', PAUSED: 'PAUSED', STOPPED: 'STOPPED' } as const;

/**
 * Routes that Connect does not have: the changes of a connector, who made them, and restoring an earlier configuration.
 */
export function historyResource(
  herder: Herder,
  history: ConnectorHistory,
  validation: ConnectorValidation,
  senders: RequestSenders,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/connectors/:connector/history',
      summary: 'The changes of a connector, also of a deleted one, and who made them; the newest first',
      tag: 'connectors',
      answers: { 200: arrayOf(CONNECTOR_CHANGE) },
      handle: async (context) => {
        const items = history.items(pathName(context, 'connector'));
        answer(context, 200, (await withinTimeLimit(herder.stage, items)).map(itemView));
      },
    },
    {
      method: 'POST',
      path: '/connectors/:connector/history/:n/restore',
      summary: 'Restore the configuration after a change; creates the connector again (201) if it was deleted',
      tag: 'connectors',
      answers: { 200: CONNECTOR_INFO, 201: CONNECTOR_INFO },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const n = numberOf(context);
        const { config, state } = await configAt(herder, history, name, n);
        const valid = await requireValid(validation, config);
        answerPut(context, await restore(herder, { name, n, valid, state }, await senders.of(context)));
      },
    },
  ];
}

/**
 * The configuration and state after change `n`. Throws a NotOwnerError unless this worker leads, because only the
 * leader can restore a configuration.
 */
export async function configAt(herder: Herder, history: ConnectorHistory, name: string, n: number) {
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
  herder: Herder,
  { name, n, valid, state }: Restored,
  by: Actor,
): Promise<{ readonly created: boolean; readonly info: ConnectorInfo }> {
  // Only a deleted connector gets the state of the change; an existing one keeps its own.
  const initialState = state === 'STARTED' ? undefined : state;
  const put = herder.requests.putConnector(name, valid, { replace: true, initialState, by, restoredFrom: n });
  return withinTimeLimit(herder.stage, put);
}

export function numberOf(context: Context): number {
  const text = pathName(context, 'n');
  const n = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(n))
    throw new RequestError(404, 'A change is identified by its number in the history');
  return n;
}

function itemView({ entry, difference }: HistoryItem): ConnectorChangeAnswer {
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
