import { ConfigError } from '../../errors.ts';
import type { ConnectorChangeAnswer } from '../../operate/history/history-answers.ts';
import type { ConnectorInfoAnswer } from '../../rest/answers.ts';
import { changeText } from './plan-text.ts';
import { clientOf, type ClusterFlags } from './run.ts';
import type { HistoryAction } from './actions.ts';

export interface HistoryFlags extends ClusterFlags {
  readonly json?: boolean;
}

/** Runs `sluice history` and returns its exit code. */
export async function runHistory(
  connector: string,
  action: HistoryAction,
  n: number | undefined,
  flags: HistoryFlags,
): Promise<number> {
  const client = await clientOf(flags);
  const path = `/connectors/${encodeURIComponent(connector)}/history`;
  if (action !== 'list' && n === undefined) {
    throw new ConfigError(`sluice history ${connector} ${action} needs the number of a change, as the list shows it`);
  }
  if (action === 'restore') {
    const restored = await client.ask<ConnectorInfoAnswer>('POST', `${path}/${String(n)}/restore`);
    return print(flags, restored, `${connector} has the configuration of change ${String(n)} again`);
  }
  const changes = await client.ask<readonly ConnectorChangeAnswer[]>('GET', path);
  if (action === 'list') {
    const lines = changes.map(headOf);
    return print(flags, changes, lines.length === 0 ? 'no changes are kept' : lines.join('\n'));
  }
  const change = changes.find((one) => one.n === n);
  if (change === undefined) throw new ConfigError(`The history of connector ${connector} has no change ${String(n)}`);
  return print(flags, change, [headOf(change), ...differenceOf(change).map((line) => `    ${line}`)].join('\n'));
}

function headOf({ n, at, what, by, state, restoredFrom, difference, ...more }: ConnectorChangeAnswer): string {
  const { worker, task, automatic = false } = more;
  const actor = by === null ? 'by an unknown user' : `by ${nameOf(by)}`;
  const who = `${automatic ? 'automatically' : actor}${worker === null ? '' : ` on worker ${worker}`}`;
  const target = task === undefined ? '' : ` task ${String(task)}`;
  const from = restoredFrom === undefined ? '' : ` from ${String(restoredFrom)}`;
  const keys = (difference ?? []).map(({ key }) => key);
  const changed = keys.length === 0 ? '' : `: ${keys.join(', ')}`;
  return plain(`${String(n).padStart(6)}  ${at}  ${what}${target}${from} ${who}, ${state}${changed}`);
}

function nameOf({ user, address }: NonNullable<ConnectorChangeAnswer['by']>): string {
  const parts = [user, address === null ? null : `at ${address}`].filter((part) => part !== null);
  return parts.length === 0 ? 'unknown' : parts.join(' ');
}

function differenceOf({ difference }: ConnectorChangeAnswer): string[] {
  if (difference === null) return ['the previous configuration is unknown'];
  return difference.length === 0
    ? ['the configuration has not changed']
    : difference.map((one) => plain(changeText(one)));
}

/** Names and keys come from outside and must not control the terminal. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');
}

function print({ json }: HistoryFlags, value: unknown, text: string): number {
  process.stdout.write(json === true ? `${JSON.stringify(value)}\n` : `${text}\n`);
  return 0;
}
