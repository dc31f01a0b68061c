import type { HistoryEntry } from './history-entry.ts';

const BYTES_PER_CONNECTOR = 1024 * 1024;
/** Maximum number of a connector's entries that have no configuration, such as those of pauses and restarts. */
const STATE_CHANGES = 50;
const OVERALL = { entries: 10_000, bytes: 32 * 1024 * 1024 };

/**
 * Keys of the entries that must be removed: the oldest ones beyond the limits for each connector and for all connectors
 * together. An existing connector keeps its newest entry and its newest configuration, unless nothing is kept at all.
 * `max`: `history.max.changes`.
 */
export function beyondLimits(
  entries: readonly HistoryEntry[],
  exists: (connector: string) => boolean,
  max: number,
): string[] {
  if (max === 0) return entries.map(({ key }) => key);
  const gone = new Set<HistoryEntry>();
  const kept = new Set<HistoryEntry>();
  for (const [connector, own] of byConnector(entries)) {
    const newest = [own.at(-1), own.findLast(({ config }) => config !== undefined)];
    if (exists(connector)) for (const entry of newest) if (entry !== undefined) kept.add(entry);
    const states = own.filter(({ config, what }) => config === undefined && what !== 'deleted');
    for (const entry of states.slice(0, -STATE_CHANGES)) if (!kept.has(entry)) gone.add(entry);
    removeOldest(own, { entries: max, bytes: BYTES_PER_CONNECTOR }, kept, gone);
  }
  removeOldest(
    entries.toSorted((a, b) => a.atMs - b.atMs || a.n - b.n),
    OVERALL,
    kept,
    gone,
  );
  return [...gone].map(({ key }) => key);
}

function removeOldest(
  entries: readonly HistoryEntry[],
  limit: { readonly entries: number; readonly bytes: number },
  kept: ReadonlySet<HistoryEntry>,
  gone: Set<HistoryEntry>,
): void {
  const left = entries.filter((entry) => !gone.has(entry));
  let count = left.length;
  let bytes = left.reduce((sum, entry) => sum + entry.bytes, 0);
  for (const entry of left) {
    if (count <= limit.entries && bytes <= limit.bytes) return;
    if (kept.has(entry)) continue;
    gone.add(entry);
    count -= 1;
    bytes -= entry.bytes;
  }
}

/** The entries of each connector, in the order of `n`. */
export function byConnector(entries: readonly HistoryEntry[]): Map<string, HistoryEntry[]> {
  const found = new Map<string, HistoryEntry[]>();
  for (const entry of entries) {
    const own = found.get(entry.connector);
    if (own === undefined) found.set(entry.connector, [entry]);
    else own.push(entry);
  }
  for (const own of found.values()) own.sort((a, b) => a.n - b.n);
  return found;
}
