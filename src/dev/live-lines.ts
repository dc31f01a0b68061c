import type { Outage } from './gauge.ts';
import type { ConnectorCount, Moved } from './stack-counts.ts';

/** A terminal's size, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

const NAME_COLUMNS = 22;
/** Longer names are cut, so that the states fit. */
const MAX_NAME_COLUMNS = 30;
/** Failed connectors are listed first. */
const BY_URGENCY = ['FAILED', 'UNASSIGNED', 'RESTARTING', 'STOPPED', 'PAUSED', 'RUNNING'];
/** Index in `BY_URGENCY` of connectors that wait for a topic, which is that of UNASSIGNED. */
const WAITING = 1;

/** Unreachable services, the counts, and the states of connectors, failed ones first. */
export function liveLines({ sinkRows, sourceRecords, connectors, away }: Moved): string[] {
  const urgency = ({ state, tasks, waitsFor }: ConnectorCount) =>
    Math.min(...[state, ...tasks].map(rank), waitsFor.length > 0 ? WAITING : Infinity);
  const sorted = [...connectors].sort((a, b) => urgency(a) - urgency(b));
  return [
    ...away.map((outage) => `  ${outageText(outage)}`),
    `  ${'Rows into PostgreSQL'.padEnd(NAME_COLUMNS)} ${sinkRows.toLocaleString('en')}`,
    `  ${'Records into Kafka'.padEnd(NAME_COLUMNS)} ${sourceRecords.toLocaleString('en')}`,
    ...sorted.map(
      (connector) => `  ${cut(plain(connector.name), MAX_NAME_COLUMNS).padEnd(NAME_COLUMNS)} ${stateText(connector)}`,
    ),
  ];
}

/** `Kafka is unreachable since 12:34:56: connect ECONNREFUSED 127.0.0.1:9092`, by the clock of this machine. */
export function outageText({ service, since, reason }: Outage): string {
  return `${service} is unreachable since ${since.toTimeString().slice(0, 8)}: ${plain(reason)}`;
}

/** Task states are counted: `RUNNING  tasks: FAILED, 7 RUNNING`. */
function stateText({ state, tasks, waitsFor }: ConnectorCount): string {
  const states = [...new Set(tasks)].sort((a, b) => rank(a) - rank(b));
  const counted = states.map((each) => {
    const count = tasks.filter((task) => task === each).length;
    return count === 1 ? each : `${String(count)} ${each}`;
  });
  const waiting = waitsFor.length === 0 ? '' : `  waits for topic ${waitsFor.map(plain).join(', ')}`;
  return `${state}  tasks: ${counted.length === 0 ? 'none' : counted.join(', ')}${waiting}`;
}

function rank(state: string): number {
  const place = BY_URGENCY.indexOf(state);
  return place < 0 ? 1 : place;
}

/**
 * Output that replaces the previous lines on a terminal. It is cut to the width of the terminal, and to one line less
 * than its height. Each line is overwritten before the rest of it is erased, so that nothing flickers.
 */
export function redrawing(
  previous: readonly string[],
  lines: readonly string[],
  { columns, rows }: TerminalSize,
): { readonly text: string; readonly drawn: readonly string[] } {
  const maxLines = Math.max(1, rows - 1);
  const shown =
    lines.length <= maxLines
      ? lines
      : [...lines.slice(0, maxLines - 1), `  … ${String(lines.length - maxLines + 1)} more`];
  const drawn = shown.map((line) => cut(line, columns - 1));
  // A terminal that has become narrower has wrapped the previous lines.
  const height = previous.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  const up = height > 0 ? `\x1b[${String(height)}A\r` : '';
  return { text: `${up}${drawn.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`, drawn };
}

/** Cuts a line to this number of columns; a cut line ends in `…`. */
export function cut(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let text = '';
  let width = 1;
  for (const character of line) {
    width += characterWidth(character);
    if (width > columns) break;
    text += character;
  }
  return `${text}…`;
}

function widthOf(line: string): number {
  let width = 0;
  for (const character of line) width += characterWidth(character);
  return width;
}

/** Columns of a character: combining marks have none; East Asian characters and emoji have two. */
function characterWidth(character: string): number {
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) return 0;
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(
    character,
  )
    ? 2
    : 1;
}

/** Replaces control characters, because names of connectors come from users. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');
}
