import type { DeadLetterGroup, PreviewedDeadLetter, WholeDeadLetter } from '../common/answers.ts';

/** The reason why a record was not stored. */
type Fault = Partial<Omit<WholeDeadLetter['fault'], 'exception'>>;
export type Histogram = NonNullable<DeadLetterGroup['histogram']>;

/** Formats a fault on one line: stage, SQLSTATE or exception class, table and column, message. */
export function faultText({ stage, message, sqlstate, table, column, class: className }: Fault): string {
  const place = [table, column].filter(isFilled).join('.');
  const kind = sqlstate ?? className?.slice(className.lastIndexOf('.') + 1);
  return [stage, kind, place, message].filter(isFilled).join(' · ');
}

/** The count and the start time of the first bucket that has the most records. */
export function peakOf({ from, bucketMs, counts }: Histogram): { readonly count: number; readonly at: number } {
  const count = Math.max(...counts);
  return { count, at: from + counts.indexOf(count) * bucketMs };
}

/** Counts records by outcome. The outcomes are in the order of their first records. */
export function outcomes(
  records: readonly PreviewedDeadLetter[],
): readonly (readonly [outcome: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { outcome } of records) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts];
}

/** Formats bytes as a hex dump. Each line contains the offset, sixteen bytes, and their ASCII characters. */
export function hexDump(hex: string): string {
  const lines: string[] = [];
  for (let at = 0; at < hex.length; at += 32) {
    const bytes = hex.slice(at, at + 32).match(/../g) ?? [];
    const text = bytes.map((byte) => {
      const code = Number.parseInt(byte, 16);
      return code >= 32 && code < 127 ? String.fromCharCode(code) : '.';
    });
    lines.push(`${(at / 2).toString(16).padStart(6, '0')}  ${bytes.join(' ').padEnd(47)}  ${text.join('')}`);
  }
  return lines.join('\n');
}

function isFilled(part: string | undefined): part is string {
  return part !== undefined && part !== '';
}
