import type { Absence } from './gauge.ts';
import type { ConnectorCount, Moved } from './stack-counts.ts';

/** A terminal's size, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

const NAME_COLUMNS = 22;
/** Longer names leave no room for states. */
const MAX_NAME_COLUMNS = 30;
/** What is broken is read first. */
const BY_URGENCY = ['FAILED', 'UNASSIGNED', 'RESTARTING', 'STOPPED', 'PAUSED', 'RUNNING'];
/** Of connectors that wait for a topic, like UNASSIGNED. */
const WAITING = 1;

/** Services that are away, what has moved, and how the connectors are, broken ones first. */
export function liveLines({ sinkRows, sourceRecords, connectors, away }: Moved): string[] {
  const urgency = ({ state, tasks, waitsFor }: ConnectorCount) =>
    Math.min(...[state, ...tasks].map(rank), waitsFor.length > 0 ? WAITING : Infinity);
  const sorted = [...connectors].sort((a, b) => urgency(a) - urgency(b));
  return [
    ...away.map((absence) => `  ${absenceText(absence)}`),
    `  ${'Rows into PostgreSQL'.padEnd(NAME_COLUMNS)} ${sinkRows.toLocaleString('en')}`,
    `  ${'Records into Kafka'.padEnd(NAME_COLUMNS)} ${sourceRecords.toLocaleString('en')}`,
    ...sorted.map(
      (connector) => `  ${cut(plain(connector.name), MAX_NAME_COLUMNS).padEnd(NAME_COLUMNS)} ${stateText(connector)}`,
    ),
  ];
}

/** `Kafka is away since 12:34:56: connect ECONNREFUSED 127.0.0.1:9092`, by the clock of this machine. */
export function absenceText({ service, since, reason }: Absence): string {
  return `${service} is away since ${since.toTimeString().slice(0, 8)}: ${plain(reason)}`;
}

/** States of many tasks are counted: `RUNNING  tasks: FAILED, 7 RUNNING`. */
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
 * What a terminal needs to show these lines where it shows those of before: cut to its width, and to its height less one line.
 * Each line is written over before what is left of it is erased, so that nothing flickers.
 */
export function redrawing(
  before: readonly string[],
  lines: readonly string[],
  { columns, rows }: TerminalSize,
): { readonly text: string; readonly drawn: readonly string[] } {
  const room = Math.max(1, rows - 1);
  const shown =
    lines.length <= room ? lines : [...lines.slice(0, room - 1), `  … ${String(lines.length - room + 1)} more`];
  const drawn = shown.map((line) => cut(line, columns - 1));
  // A terminal that has become narrower has broken the lines of before.
  const height = before.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  const up = height > 0 ? `\x1b[${String(height)}A\r` : '';
  return { text: `${up}${drawn.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`, drawn };
}

/** At most so many columns, the last one `…` where something is left out. */
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

/** Marks that stand above others have none; East Asian characters and pictures have two. */
function characterWidth(character: string): number {
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) return 0;
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(
    character,
  )
    ? 2
    : 1;
}

/** Without what a terminal would take for a command: anybody may name a connector. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');
}
