import type { FleetRow } from '../common/answers.ts';
import { csvOf } from '../common/csv.ts';
import { texts } from '../texts/fleet.ts';

/** Formats connectors as CSV, with unrounded figures. */
export function fleetCsv(rows: readonly FleetRow[]): string {
  return csvOf(
    texts.csvColumns,
    rows.map((row) => [
      row.name,
      row.type,
      row.className,
      row.verdict,
      row.since,
      row.sentence,
      row.tasks['RUNNING'] ?? 0,
      Object.values(row.tasks).reduce((sum, count) => sum + count, 0),
      row.rate,
      row.lag,
      row.deadLettersPerMinute,
      row.topics,
      row.tables,
      row.workers.join(' '),
    ]),
  );
}
