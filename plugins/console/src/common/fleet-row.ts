import type { FleetRow } from './answers.ts';
import { VERDICTS } from './verdict.ts';

/** The filters in the address; an empty one does not restrict the rows. */
export interface Filters {
  readonly text: string;
  readonly verdict: string;
  readonly type: string;
  readonly className: string;
  readonly worker: string;
  /** The column that the rows are sorted by; with `-` the largest value comes first. Empty: by verdict. */
  readonly sort: string;
}

const SORTS = ['name', 'since', 'tasks', 'rate', 'lag', 'letters'] as const;
export type Sort = (typeof SORTS)[number];

const VALUES: Readonly<Record<Sort, (row: FleetRow) => string | number | null>> = {
  name: ({ name }) => name,
  since: ({ since }) => since,
  tasks: ({ tasks }) => Object.values(tasks).reduce((sum, count) => sum + count, 0),
  rate: ({ rate }) => rate,
  lag: ({ lag }) => lag,
  letters: ({ deadLettersPerMinute }) => deadLettersPerMinute,
};

const RANK = new Map<string, number>(VERDICTS.map((verdict, index) => [verdict, index]));

/** Sorts rows by verdict, the worst first, then by name. */
export function inOrder(rows: readonly FleetRow[]): readonly FleetRow[] {
  const rank = ({ verdict }: FleetRow): number => RANK.get(verdict) ?? 0;
  return [...rows].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/** Parses the sort order of the address; `undefined`: by verdict. */
export function sortOf(sort: string): { readonly by: Sort; readonly isDescending: boolean } | undefined {
  const isDescending = sort.startsWith('-');
  const by = SORTS.find((each) => each === (isDescending ? sort.slice(1) : sort));
  return by && { by, isDescending };
}

/** Sorts rows by a column. Unknown values are last, and rows with equal values keep their order. */
export function sorted(rows: readonly FleetRow[], sort: string): readonly FleetRow[] {
  const wanted = sortOf(sort);
  if (wanted === undefined) return rows;
  const value = VALUES[wanted.by];
  const sign = wanted.isDescending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return x < y ? -sign : x > y ? sign : 0;
  });
}

/** Figures about all connectors, shown above the list. */
interface FleetSummary {
  readonly all: number;
  /** Number of connectors that need attention, because their verdict is not RUNNING, PAUSED or STOPPED. */
  readonly bad: number;
  /** The latest time at which one of these connectors got its verdict; ISO 8601. */
  readonly lastSince: string | undefined;
  readonly lag: number;
}

const CALM: ReadonlySet<string> = new Set(['RUNNING', 'PAUSED', 'STOPPED']);

export function fleetSummary(rows: readonly FleetRow[]): FleetSummary {
  const bad = rows.filter(({ verdict }) => !CALM.has(verdict));
  const lastSince = bad
    .map(({ since }) => since)
    .sort()
    .at(-1);
  return { all: rows.length, bad: bad.length, lastSince, lag: rows.reduce((sum, { lag }) => sum + (lag ?? 0), 0) };
}

export function matching(rows: readonly FleetRow[], filters: Filters): readonly FleetRow[] {
  const text = filters.text.trim().toLowerCase();
  const verdicts = filters.verdict === '' ? undefined : new Set(filters.verdict.split(','));
  return rows.filter(
    (row) =>
      (verdicts === undefined || verdicts.has(row.verdict)) &&
      (filters.type === '' || row.type === filters.type) &&
      (filters.className === '' || row.className === filters.className) &&
      (filters.worker === '' || row.workers.includes(filters.worker)) &&
      (text === '' ||
        [row.name, row.topics, row.tables, row.sentence].some((each) => each.toLowerCase().includes(text))),
  );
}
