import { readFile } from 'node:fs/promises';
import { sleep } from '../../async/sleep.ts';
import { readPropertiesFile } from '../../config/properties-file.ts';
import { ConfigError, toError } from '../../errors.ts';
import type {
  DeadLettersAnswer,
  PreviewedDeadLettersAnswer,
  ReplayAnswer,
  ReplaysAnswer,
} from '../../operate/dead-letters/dead-letter-answers.ts';
import type { ConnectClient } from './connect-client.ts';
import type { DeadLetterAction } from './actions.ts';
import { clientOf, type ClusterFlags } from './run.ts';

export interface DeadLetterFlags extends ClusterFlags {
  readonly group?: string;
  /** A selection as JSON, which can also have criteria other than the group. */
  readonly selection?: string;
  readonly rate?: number;
  readonly transforms?: string;
  readonly follow?: boolean;
  readonly id?: number;
  readonly json?: boolean;
}

type Group = DeadLettersAnswer['groups'][number];
type Fault = Pick<Group, 'stage' | 'message' | 'sqlstate' | 'table' | 'column' | 'class'>;

const FOLLOW_MS = 1000;
const EXIT_ERROR = 1;
const EXIT_FAILED_AGAIN = 2;

/** Runs `sluice dead-letters` and returns its exit code: 1 if the replay failed, 2 if records failed again in it, otherwise 0. */
export async function runDeadLetters(
  connector: string,
  action: DeadLetterAction,
  flags: DeadLetterFlags,
): Promise<number> {
  const client = await clientOf(flags);
  const path = `/connectors/${encodeURIComponent(connector)}/dead-letters`;
  if (action === 'groups') return print(flags, await client.ask<DeadLettersAnswer>('GET', path), groupsText);
  if (action === 'status' || action === 'stop') {
    const id = flags.id ?? (await newest(client, path, connector));
    const replay = await client.ask<ReplayAnswer>(action === 'stop' ? 'DELETE' : 'GET', `${path}/replay/${String(id)}`);
    return ended(client, path, replay, { ...flags, follow: action === 'status' && flags.follow === true });
  }
  const body = { selection: selectionOf(flags), ...(await chainOf(flags)) };
  if (action === 'preview')
    return print(flags, await client.ask<PreviewedDeadLettersAnswer>('POST', `${path}/preview`, body), previewText);
  const rate = flags.rate === undefined ? {} : { rate: flags.rate };
  const begun = await client.ask<ReplayAnswer>('POST', `${path}/replay`, { ...body, ...rate });
  return ended(client, path, begun, flags);
}

/** Waits for the end of the replay if this is requested, and prints its last state. */
async function ended(
  client: ConnectClient,
  path: string,
  begun: ReplayAnswer,
  flags: DeadLetterFlags,
): Promise<number> {
  let replay = begun;
  while (flags.follow === true && replay.state === 'RUNNING') {
    if (flags.json !== true) process.stdout.write(replayText(replay));
    await sleep(FOLLOW_MS);
    replay = await client.ask<ReplayAnswer>('GET', `${path}/replay/${String(replay.id)}`);
  }
  print(flags, replay, replayText);
  if (replay.state === 'FAILED') return EXIT_ERROR;
  return replay.failed > 0 ? EXIT_FAILED_AGAIN : 0;
}

async function newest(client: ConnectClient, path: string, connector: string): Promise<number> {
  const { replays } = await client.ask<ReplaysAnswer>('GET', `${path}/replays`);
  const [last] = replays;
  if (last === undefined) throw new ConfigError(`Connector ${connector} has had no replay`);
  return last.id;
}

function selectionOf({ group, selection }: DeadLetterFlags): object {
  const given = selection === undefined ? {} : objectOf(selection, '--selection');
  return group === undefined ? given : { ...given, group };
}

async function chainOf({ transforms }: DeadLetterFlags): Promise<{ transforms?: object }> {
  if (transforms === undefined) return {};
  if (!transforms.endsWith('.json')) return { transforms: await readPropertiesFile(transforms) };
  const text = await readFile(transforms, 'utf8').catch((error: unknown) => {
    throw new ConfigError(`Cannot read ${transforms}: ${toError(error).message}`, { cause: error });
  });
  return { transforms: objectOf(text, transforms) };
}

function objectOf(text: string, where: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The error below says what the text must be.
  }
  throw new ConfigError(`${where} must be a JSON object`);
}

function print<T>({ json }: DeadLetterFlags, value: T, text: (value: T) => string): number {
  process.stdout.write(json === true ? `${JSON.stringify(value)}\n` : text(value));
  return 0;
}

function groupsText({ topic, scanned, hasMore, groups, faults }: DeadLettersAnswer): string {
  const head =
    topic === null
      ? `No dead-letter topic; the tasks remember ${String(faults.recent.length)} faults`
      : `${topic}: ${String(scanned)} records read${hasMore ? ', there are more' : ''}`;
  const shown = topic === null ? faults.recent.map(faultText) : groups.map(groupText);
  return `${[head, ...shown].join('\n')}\n`;
}

function groupText(group: Group): string {
  const { id, count, replayed } = group;
  return `${id}  ${String(count).padStart(9)}  ${faultText(group)}${replayed === 0 ? '' : `  (${String(replayed)} replayed)`}`;
}

function faultText({ stage, sqlstate, table, column, class: name, message }: Fault): string {
  const where = [table, column].filter((part) => part !== undefined).join('.');
  return [stage, sqlstate ?? name, where, message].filter((part) => part !== undefined && part !== '').join('  ');
}

function previewText({ records, hasMore }: PreviewedDeadLettersAnswer): string {
  const outcomes = new Map<string, number>();
  for (const { outcome } of records) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const lines = [...outcomes].map(([outcome, count]) => `${String(count).padStart(9)}  ${outcome}`);
  const rest = hasMore ? [`the first ${String(records.length)} records; there are more`] : [];
  return `${[...(lines.length === 0 ? ['no records'] : lines), ...rest].join('\n')}\n`;
}

function replayText({ id, state, partitions, selected, delivered, dropped, failed, reason }: ReplayAnswer): string {
  const sum = (of: (part: ReplayAnswer['partitions'][number]) => number) =>
    partitions.reduce((all, part) => all + of(part), 0);
  const whole = sum(({ from, end }) => end - from);
  const done = whole === 0 ? 100 : Math.floor((sum(({ from, next }) => next - from) * 100) / whole);
  const counts = [
    `${String(selected)} ${selected === 1 ? 'record' : 'records'}`,
    `${String(delivered)} delivered`,
    `${String(failed)} failed again`,
    ...(dropped === 0 ? [] : [`${String(dropped)} dropped`]),
  ];
  const why = reason === null ? '' : `: ${reason}`;
  return `replay ${String(id)} ${state}, ${String(done)} % read, ${counts.join(', ')}${why}\n`;
}
