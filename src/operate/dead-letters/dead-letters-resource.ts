import type { Herder } from '../../herder/herder.ts';
import type { PeerClient } from '../../herder/peer-client.ts';
import { arrayOf, described, integerBetween, mapOf, objectOf, TEXT } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import type { DeadLetterReadings } from './dead-letter-readings.ts';
import type { ConnectorReplays } from './connector-replays.ts';
import {
  DEAD_LETTER_SELECTION,
  DEAD_LETTERS,
  PREVIEWED_DEAD_LETTERS,
  RECENT_FAULT,
  REPLAY,
  REPLAYS,
  type DeadLettersAnswer,
} from './dead-letter-answers.ts';
import type { RecentFault } from '../../connect/pipeline/recent-faults.ts';
import { RequestError } from '../../errors.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { isChainOption } from '../preview/transform-options.ts';
import type { Actor, ChangeRecorder } from '../../herder/recorded-change.ts';
import { NotOwnerError } from '../../herder/not-owner-error.ts';
import { asConfig, checkBody, readJsonText } from '../../rest/request-body.ts';
import type { RequestSenders } from '../../rest/request-sender.ts';
import {
  answer,
  answerText,
  pathName,
  queryText,
  withinTimeLimit,
  type Context,
  type Route,
} from '../../rest/resource.ts';

const DEFAULT_LIMIT = 100_000;
const MAX_LIMIT = 10_000_000;
const LIMIT = integerBetween(1, MAX_LIMIT);
const MAX_TASKS_ASKED = 100;
/** Maximum length of a replay's transform options, so that the stored replay stays below the limit of OwnStore. */
const MAX_CHAIN_CHARACTERS = 64_000;
/** Maximum length of an option's name in an error message. */
const MAX_NAMED = 200;
const PEER_TIMEOUT_MS = 5_000;
const MAX_RATE = 10_000_000;
/** Dead-letter records per second: a tenth of what a sink processes on a small machine. */
const DEFAULT_RATE = 1000;

const CHOICE = {
  'selection?': DEAD_LETTER_SELECTION,
  'transforms?': described(
    mapOf(TEXT),
    "Options that replace the connector's transforms and predicates: `transforms.…` and `predicates.…`",
  ),
};

const PREVIEW_REPLAY_BODY = objectOf(CHOICE);
const REPLAY_BODY = objectOf({
  ...CHOICE,
  'rate?': described(integerBetween(1, MAX_RATE), `Records per second at most; ${String(DEFAULT_RATE)} if absent`),
});

const isLimit = validatorOf(LIMIT);
const isPreviewBody = validatorOf(PREVIEW_REPLAY_BODY);
const isReplayBody = validatorOf(REPLAY_BODY);

interface DeadLettersParts {
  readonly herder: Herder;
  readonly recorder: ChangeRecorder;
  readonly readings: DeadLetterReadings;
  readonly replays: ConnectorReplays;
  readonly peers: PeerClient;
  readonly senders: RequestSenders;
}

/**
 * `/connectors/{connector}/dead-letters`, which Connect does not have: groups, previews and replays of dead letters,
 * and the last faults of tasks.
 */
export function deadLettersResource({
  herder,
  recorder,
  readings,
  replays,
  peers,
  senders,
}: DeadLettersParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/connectors/:connector/dead-letters',
      summary: 'Dead letters of a sink in groups, and the last faults of its tasks',
      tag: 'connectors',
      query: {
        limit: { description: 'Maximum number of records of the topic that are examined', schema: LIMIT },
      },
      answers: { 200: DEAD_LETTERS },
      handle: async (context) => {
        const connector = pathName(context, 'connector');
        const groups = readings.groups(connector, limitOf(context), goneSignal(context));
        const text = await withinTimeLimit(herder.stage, groups);
        const faults = await connectorFaults(context, herder, peers, connector);
        answerText(context, 200, `${text.slice(0, -1)},"faults":${JSON.stringify(faults)}}`);
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector/tasks/:task/faults',
      summary: 'The last failed records of a task, oldest first',
      tag: 'tasks',
      answers: { 200: arrayOf(RECENT_FAULT) },
      handle: async (context) => {
        const task = Number(pathName(context, 'task'));
        if (!Number.isSafeInteger(task)) throw new RequestError(404, 'The id of a task must be a number');
        const id = { connector: pathName(context, 'connector'), task };
        answer(context, 200, await withinTimeLimit(herder.stage, herder.requests.taskFaults(id)));
      },
    },
    {
      method: 'POST',
      path: '/connectors/:connector/dead-letters/preview',
      summary: 'Preview a replay of dead letters; nothing is written',
      tag: 'connectors',
      body: PREVIEW_REPLAY_BODY,
      answers: { 200: PREVIEWED_DEAD_LETTERS },
      handle: async (context) => {
        const { text } = await readJsonText(context.req);
        const body = checkBody(isPreviewBody, text.trim() === '' ? {} : (JSON.parse(text) as unknown));
        requireChain(body.transforms);
        const previewed = readings.preview(
          pathName(context, 'connector'),
          body.selection ?? {},
          body.transforms,
          goneSignal(context),
        );
        answerText(context, 200, await withinTimeLimit(herder.stage, previewed));
      },
    },
    {
      method: 'POST',
      path: '/connectors/:connector/dead-letters/replay',
      summary:
        'Send dead letters through the pipeline of their sink again, in the background; 409 while a replay is running',
      tag: 'connectors',
      body: REPLAY_BODY,
      answers: { 201: REPLAY },
      handle: async (context) => {
        const { text } = await readJsonText(context.req);
        const body = checkBody(isReplayBody, text.trim() === '' ? {} : (JSON.parse(text) as unknown));
        const { selection = {}, transforms: chain, rate = DEFAULT_RATE } = body;
        requireChain(chain);
        const connector = pathName(context, 'connector');
        const by = await senders.of(context);
        const begin = () => replays.begin(connector, { selection, chain, rate, by: senderText(by) });
        const begun = recorder.recorded({ connector, by }, begin, () => 'replayed');
        answerText(context, 201, await withinTimeLimit(herder.stage, begun));
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector/dead-letters/replays',
      summary: 'The last 20 replays of a connector, the newest first',
      tag: 'connectors',
      answers: { 200: REPLAYS },
      handle: async (context) => {
        answerText(context, 200, await replays.list(pathName(context, 'connector')));
      },
    },
    {
      method: 'GET',
      path: '/connectors/:connector/dead-letters/replay/:id',
      summary: 'The progress of a replay',
      tag: 'connectors',
      answers: { 200: REPLAY },
      handle: async (context) => {
        answerText(context, 200, await replays.get(pathName(context, 'connector'), idOf(context)));
      },
    },
    {
      method: 'DELETE',
      path: '/connectors/:connector/dead-letters/replay/:id',
      summary: 'Stop a replay',
      tag: 'connectors',
      answers: { 200: REPLAY },
      handle: async (context) => {
        const ended = replays.end(pathName(context, 'connector'), idOf(context));
        answerText(context, 200, await withinTimeLimit(herder.stage, ended));
      },
    },
  ];
}

function requireChain(chain: Readonly<Record<string, string>> = {}): void {
  asConfig(chain);
  if (JSON.stringify(chain).length > MAX_CHAIN_CHARACTERS)
    throw new RequestError(400, `transforms has more than ${String(MAX_CHAIN_CHARACTERS)} characters`);
  const wrong = Object.keys(chain).find((key) => !isChainOption(key));
  if (wrong === undefined) return;
  throw new RequestError(
    400,
    `transforms may have only options of transforms and predicates, not ${wrong.slice(0, MAX_NAMED)}`,
  );
}

function idOf(context: Context): number {
  const id = Number(pathName(context, 'id'));
  if (!Number.isSafeInteger(id)) throw new RequestError(404, 'The id of a replay must be a number');
  return id;
}

/** The user and the address, as far as they are known. */
function senderText({ user, address }: Actor): string {
  return [user ?? '', address ?? ''].filter((part) => part !== '').join('@');
}

function limitOf(context: Context): number {
  const text = queryText(context, 'limit');
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d+$/.test(text) && isLimit(limit)) return limit;
  throw new RequestError(400, `limit must be a number of records from 1 to ${String(MAX_LIMIT)}`);
}

/**
 * The last 100 faults of the tasks, newest first, as reported by the workers that run them. `unanswered`: tasks whose
 * faults are not included, because their workers did not answer or because they are not among the first 100 tasks.
 */
async function connectorFaults(
  context: Context,
  herder: Herder,
  peers: PeerClient,
  connector: string,
): Promise<DeadLettersAnswer['faults']> {
  const { tasks } = herder.directory.info(connector);
  const unanswered: number[] = tasks.slice(MAX_TASKS_ASKED).map(({ task }) => task);
  const recent: RecentFault[] = [];
  const ask = async (task: number): Promise<void> => {
    try {
      recent.push(...(await taskFaults(context, herder, peers, { connector, task })));
    } catch {
      unanswered.push(task);
    }
  };
  await Promise.all(tasks.slice(0, MAX_TASKS_ASKED).map(({ task }) => ask(task)));
  return { unanswered, recent: recent.sort((a, b) => b.at - a.at).slice(0, 100) };
}

async function taskFaults(
  context: Context,
  herder: Herder,
  peers: PeerClient,
  id: { readonly connector: string; readonly task: number },
): Promise<readonly RecentFault[]> {
  try {
    return await herder.requests.taskFaults(id);
  } catch (error) {
    if (!(error instanceof NotOwnerError) || error.url === undefined || error.url === '') throw error;
    const path = `/connectors/${encodeURIComponent(id.connector)}/tasks/${String(id.task)}/faults`;
    const authorization = context.get('authorization');
    const { status, body } = await peers.request({
      method: 'GET',
      url: error.url.replace(/\/$/, '') + path,
      headers: authorization === '' ? {} : { authorization },
      timeoutMs: PEER_TIMEOUT_MS,
    });
    if (status !== 200) throw error;
    return JSON.parse(body.toString()) as readonly RecentFault[];
  }
}
