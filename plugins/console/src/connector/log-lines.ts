import type { LogPart } from '../common/answers.ts';

type LogLine = LogPart['lines'][number];

export interface PlacedLine extends LogLine {
  readonly worker: string;
}

/** Log levels, the most detailed first. */
export const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MAX_KEPT = 3000;

/**
 * Adds the new lines of one worker, sorted by time among those of the other workers. Lines that are already known are
 * skipped, and the oldest lines beyond MAX_KEPT are dropped.
 */
export function withLines(
  known: readonly PlacedLine[],
  worker: string,
  lines: readonly LogLine[],
): readonly PlacedLine[] {
  const last = known.reduce((max, line) => (line.worker === worker ? Math.max(max, line.number) : max), 0);
  const added = lines.filter(({ number }) => number > last).map((line) => ({ ...line, worker }));
  if (added.length === 0) return known;
  return [...known, ...added].sort((a, b) => a.at - b.at || a.number - b.number).slice(-MAX_KEPT);
}

/** The lines of at least this level, or of an unknown level, whose message, logger or task contains `text`. */
export function shownLines(lines: readonly PlacedLine[], level: LogLevel, text: string): readonly PlacedLine[] {
  const wanted = text.trim().toLowerCase();
  const rank = LOG_LEVELS.indexOf(level);
  return lines.filter((line) => {
    const own = LOG_LEVELS.findIndex((each) => each === line.level);
    if (own >= 0 && own < rank) return false;
    return wanted === '' || `${line.text} ${line.logger} ${placeOf(line)}`.toLowerCase().includes(wanted);
  });
}

/** The origin of a line, such as `task 0`; empty for a line of the connector itself. */
export function placeOf({ task }: LogLine): string {
  return task === null ? '' : `task ${String(task)}`;
}

/** The lines as text to copy. */
export function asText(lines: readonly PlacedLine[]): string {
  return lines
    .map((line) => {
      const parts = [new Date(line.at).toISOString(), line.level, line.worker, placeOf(line), line.text];
      return parts.filter((part) => part !== '').join(' ');
    })
    .join('\n');
}
