import type { Writes } from '../common/previewed-rows.ts';

/** What was wrong with a record. */
export interface Fault {
  readonly stage?: string;
  readonly class?: string;
  readonly message?: string;
  readonly sqlstate?: string;
  readonly table?: string;
  readonly column?: string;
}

interface LetterPlace {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}

export interface Letter extends LetterPlace {
  readonly origin?: { readonly topic: string; readonly partition: number; readonly offset: number };
  readonly task?: number;
  readonly attempt: number;
  /** The newest replay that has sent it. */
  readonly replay?: number;
  readonly fault: Fault;
}

export interface WholeLetter extends Letter {
  /** As the JSON converter writes keys and values; `null`: the record cannot be decoded. */
  readonly record: { readonly key?: unknown; readonly value?: unknown } | null;
  readonly keyHex: string | null;
  readonly valueHex: string | null;
  /** Only of a letter that was asked for alone. */
  readonly keyBytes?: number | null;
  readonly valueBytes?: number | null;
  readonly headers: readonly { readonly key: string; readonly value: string | null }[];
}

/** Letters in each bucket of time. */
export interface Histogram {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly bucketMs: number;
  readonly counts: readonly number[];
}

export interface LetterGroup extends Fault {
  readonly id: string;
  readonly count: number;
  /** The number of these letters that a replay has sent. */
  readonly replayed: number;
  readonly first: LetterPlace;
  readonly last: LetterPlace;
  /** Absent where no letter has a time. */
  readonly histogram?: Histogram;
  readonly examples: readonly WholeLetter[];
}

/** The answer of `GET /connectors/{connector}/dead-letters`. */
export interface DeadLettersAnswer {
  readonly topic: string | null;
  readonly scanned: number;
  readonly hasMore: boolean;
  readonly ungrouped: number;
  readonly groups: readonly LetterGroup[];
  readonly faults: {
    readonly unanswered: readonly number[];
    readonly recent: readonly (Fault & { readonly at: number; readonly task: number })[];
  };
}

export interface PreviewedLetter extends Writes {
  readonly letter: Letter;
  readonly outcome: string;
  readonly faults: readonly Fault[];
}

/** The answer of `POST /connectors/{connector}/dead-letters/preview`. */
export interface LettersPreview {
  readonly hasMore: boolean;
  readonly records: readonly PreviewedLetter[];
}

/** Stage, SQLSTATE or class, place and message in a line. */
export function faultText({ stage, message, sqlstate, table, column, class: className }: Fault): string {
  const place = [table, column].filter(isFilled).join('.');
  const kind = sqlstate ?? className?.slice(className.lastIndexOf('.') + 1);
  return [stage, kind, place, message].filter(isFilled).join(' · ');
}

/** The bucket with the most letters, of these the first. */
export function peakOf({ from, bucketMs, counts }: Histogram): { readonly count: number; readonly at: number } {
  const count = Math.max(...counts);
  return { count, at: from + counts.indexOf(count) * bucketMs };
}

/** How many have each outcome, in the order in which they came. */
export function outcomes(records: readonly PreviewedLetter[]): readonly (readonly [outcome: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { outcome } of records) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts];
}

/** A hex dump: each line has the offset, sixteen bytes and their ASCII characters. */
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
