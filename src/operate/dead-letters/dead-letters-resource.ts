import type { RecentFault } from '../../connect/pipeline/recent-faults.ts';
import { RequestError } from '../../errors.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import { isChainOption } from './replay-chain.ts';
import type { Actor } from '../../herder/recorded-change.ts';
import { NotOwnerError } from '../../herder/not-owner-error.ts';
import { ajv, asConfig, checkBody, readJsonText } from '../../rest/request-body.ts';
import { senderOf } from '../../rest/request-sender.ts';
import {
  answer,
  answerText,
  pathName,
  queryText,
  withinTimeLimit,
  type Context,
  type Resource,
  type ResourceDependencies,
} from '../../rest/resource.ts';

const DEFAULT_LIMIT = 100_000;
const MAX_LIMIT = 10_000_000;
const MAX_TASKS_ASKED = 100;
/** A replay is stored with its chain, below the limit of OwnStore. */
const MAX_CHAIN_CHARACTERS = 64_000;
/** Characters of an option's name that an error message shows. */
const MAX_NAMED = 200;
const PEER_TIMEOUT_MS = 5_000;

/** Letters per second: a tenth of what a sink of a small machine takes. */
const DEFAULT_RATE = 1000;
const MAX_RATE = 10_000_000;

interface PreviewLettersBody {
  readonly selection?: LetterSelection;
  readonly transforms?: Readonly<Record<string, string>>;
}

const place = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const name = { type: 'string', maxLength: 1000 } as const;

/** Which letters: for preview and replay. */
const SELECTION = {
  type: 'object',
  properties: {
    group: { type: 'string', maxLength: 64 },
    offsets: {
      type: 'array',
      maxItems: 1000,
      items: {
        type: 'object',
        properties: { partition: place, from: place, to: place },
        required: ['partition'],
        additionalProperties: false,
      },
    },
    time: { type: 'object', properties: { from: place, to: place }, additionalProperties: false },
    filter: {
      type: 'object',
      properties: { stage: name, class: name, sqlstate: name, table: name, column: name, topic: name, message: name },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;

export const PREVIEW_LETTERS_BODY = {
  type: 'object',
  properties: {
    selection: SELECTION,
    /** In place of the connector's chain: `transforms` and its `transforms.…` options, `predicates` likewise. */
    transforms: { type: 'object', additionalProperties: { type: 'string' } },
  },
  additionalProperties: false,
} as const;

export const REPLAY_LETTERS_BODY = {
  ...PREVIEW_LETTERS_BODY,
  properties: {
    ...PREVIEW_LETTERS_BODY.properties,
    /** Letters per second at most; 1000 if absent. */
    rate: { type: 'integer', minimum: 1, maximum: MAX_RATE },
  },
} as const;

const isReplayBody = ajv.compile<PreviewLettersBody & { readonly rate?: number }>(REPLAY_LETTERS_BODY);
const isPreviewBody = ajv.compile<PreviewLettersBody>(PREVIEW_LETTERS_BODY);

/** `/connectors/{connector}/dead-letters`, which Connect does not have: why records of a sink were not stored. */
export const deadLettersResource: Resource = (router, dependencies) => {
  const { herder, history, readings, replays } = dependencies;

  router.get('/connectors/:connector/dead-letters', async (context) => {
    const connector = pathName(context, 'connector');
    const groups = readings.letterGroups(connector, limitOf(context), goneSignal(context));
    const text = await withinTimeLimit(herder.stage, groups);
    const faults = await connectorFaults(context, dependencies, connector);
    answerText(context, 200, `${text.slice(0, -1)},"faults":${JSON.stringify(faults)}}`);
  });

  router.get('/connectors/:connector/tasks/:task/faults', async (context) => {
    const task = Number(pathName(context, 'task'));
    if (!Number.isSafeInteger(task)) throw new RequestError(404, 'A task is a number');
    const id = { connector: pathName(context, 'connector'), task };
    answer(context, 200, await withinTimeLimit(herder.stage, herder.requests.taskFaults(id)));
  });

  router.post('/connectors/:connector/dead-letters/preview', async (context) => {
    const { text } = await readJsonText(context.req);
    const body = checkBody(isPreviewBody, text.trim() === '' ? {} : (JSON.parse(text) as unknown));
    requireChain(body.transforms);
    const previewed = readings.lettersPreview(
      pathName(context, 'connector'),
      body.selection ?? {},
      body.transforms,
      goneSignal(context),
    );
    answerText(context, 200, await withinTimeLimit(herder.stage, previewed));
  });

  router.post('/connectors/:connector/dead-letters/replay', async (context) => {
    const { text } = await readJsonText(context.req);
    const body = checkBody(isReplayBody, text.trim() === '' ? {} : (JSON.parse(text) as unknown));
    const { selection = {}, transforms: chain, rate = DEFAULT_RATE } = body;
    requireChain(chain);
    const connector = pathName(context, 'connector');
    const by = await senderOf(context, dependencies);
    const begin = () => replays.begin(connector, { selection, chain, rate, by: senderText(by) });
    const begun = history.recorded({ connector, by }, begin, () => 'replayed');
    answerText(context, 201, await withinTimeLimit(herder.stage, begun));
  });

  router.get('/connectors/:connector/dead-letters/replays', async (context) => {
    answerText(context, 200, await replays.list(pathName(context, 'connector')));
  });

  router.get('/connectors/:connector/dead-letters/replay/:id', async (context) => {
    answerText(context, 200, await replays.get(pathName(context, 'connector'), idOf(context)));
  });

  router.delete('/connectors/:connector/dead-letters/replay/:id', async (context) => {
    const ended = replays.end(pathName(context, 'connector'), idOf(context));
    answerText(context, 200, await withinTimeLimit(herder.stage, ended));
  });
};

function requireChain(chain: Readonly<Record<string, string>> = {}): void {
  asConfig(chain);
  if (JSON.stringify(chain).length > MAX_CHAIN_CHARACTERS)
    throw new RequestError(400, `transforms has more than ${String(MAX_CHAIN_CHARACTERS)} characters`);
  const wrong = Object.keys(chain).find((key) => !isChainOption(key));
  if (wrong === undefined) return;
  throw new RequestError(
    400,
    `transforms has options of transforms and predicates only, not ${wrong.slice(0, MAX_NAMED)}`,
  );
}

function idOf(context: Context): number {
  const id = Number(pathName(context, 'id'));
  if (!Number.isSafeInteger(id)) throw new RequestError(404, 'A replay is a number');
  return id;
}

/** The user, where there are users, and the address, where it is known. */
function senderText({ user, address }: Actor): string {
  return [user ?? '', address ?? ''].filter((part) => part !== '').join('@');
}

function limitOf(context: Context): number {
  const text = queryText(context, 'limit');
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > MAX_LIMIT) {
    throw new RequestError(400, `limit is a number of records from 1 to ${String(MAX_LIMIT)}`);
  }
  return limit;
}

interface TaskFaults {
  /** Tasks that did not answer. */
  readonly unanswered: readonly number[];
  /** The newest first. */
  readonly recent: readonly RecentFault[];
}

/** Of all tasks, from the workers that have them. */
async function connectorFaults(
  context: Context,
  dependencies: ResourceDependencies,
  connector: string,
): Promise<TaskFaults> {
  const { tasks } = dependencies.herder.directory.info(connector);
  const unanswered: number[] = tasks.slice(MAX_TASKS_ASKED).map(({ task }) => task);
  const recent: RecentFault[] = [];
  const ask = async (task: number): Promise<void> => {
    try {
      recent.push(...(await taskFaults(context, dependencies, { connector, task })));
    } catch {
      unanswered.push(task);
    }
  };
  await Promise.all(tasks.slice(0, MAX_TASKS_ASKED).map(({ task }) => ask(task)));
  return { unanswered, recent: recent.sort((a, b) => b.at - a.at).slice(0, 100) };
}

async function taskFaults(
  context: Context,
  { herder, peers }: ResourceDependencies,
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
