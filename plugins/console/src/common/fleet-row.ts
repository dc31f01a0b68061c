import type { FleetRow } from './answers.ts';
import { VERDICTS } from './verdict.ts';

/** The filters in the address; an empty one does not restrict the rows. */
export interface Filters {
  readonly text: string;
  readonly verdict: string;
  readonly type: string;
  readonly className: string;
  readonly worker: string;
  readonly topic: string;
}

const RANK = new Map<string, number>(VERDICTS.map((verdict, index) => [verdict, index]));

/** Sorted by verdict, the worst first, then by name. */
export function inOrder(rows: readonly FleetRow[]): readonly FleetRow[] {
  const rank = ({ verdict }: FleetRow): number => RANK.get(verdict) ?? 0;
  return [...rows].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

export function matching(rows: readonly FleetRow[], filters: Filters): readonly FleetRow[] {
  const text = filters.text.trim().toLowerCase();
  const verdicts = filters.verdict === '' ? undefined : new Set(filters.verdict.split(','));
  const topic = filters.topic.toLowerCase();
  return rows.filter(
    (row) =>
      (verdicts === undefined || verdicts.has(row.verdict)) &&
      (filters.type === '' || row.type === filters.type) &&
      (filters.className === '' || row.className === filters.className) &&
      (filters.worker === '' || row.workers.includes(filters.worker)) &&
      (topic === '' || row.topics.toLowerCase().includes(topic)) &&
      (text === '' || [row.name, row.topics, row.sentence].some((each) => each.toLowerCase().includes(text))),
  );
}
