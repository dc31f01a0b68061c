import type { SourceCoordinates } from '../../data/record.ts';
import type { StoredOffset } from './offset-storage.ts';
import { isBlock, type PolledPart } from './source-block.ts';

interface Entry {
  readonly partition: SourceCoordinates;
  committable: SourceCoordinates | undefined;
}

/**
 * Tracks the newest committable offset of each source partition. All records of the partition up to this offset have been
 * acknowledged (Connect's SubmittedRecords).
 */
export class OffsetTracker {
  readonly #entries = new Map<string, Entry>();
  /** Source partitions with a committable offset that has not been taken yet. */
  readonly #moved = new Set<Entry>();
  #lastPartition: SourceCoordinates | undefined;
  #lastEntry: Entry | undefined;

  /**
   * Records acknowledgements. Must be called in the order of the polls. If a record of a source partition was lost, neither
   * it nor any later record of that partition in `sources` counts as acknowledged. A block with a lost record counts as lost.
   */
  acknowledge(sources: readonly PolledPart[], lost?: ReadonlySet<PolledPart>): void {
    const blocked = new Set<Entry>();
    for (const source of sources) {
      const entry = this.#entryOf(source.sourcePartition);
      if (lost?.has(source) === true) blocked.add(entry);
      if (blocked.size > 0 && blocked.has(entry)) continue;
      if (entry.committable === undefined) this.#moved.add(entry);
      entry.committable = isBlock(source) ? source.offsetAfter : source.sourceOffset;
    }
  }

  /** Returns the offsets that have changed since the last call. */
  takeCommittable(): StoredOffset[] {
    const offsets: StoredOffset[] = [];
    for (const entry of this.#moved) {
      if (entry.committable !== undefined) offsets.push({ partition: entry.partition, offset: entry.committable });
      entry.committable = undefined;
    }
    this.#moved.clear();
    return offsets;
  }

  /** Restores the offsets of a failed commit. Partitions that have newer offsets keep them. */
  restore(offsets: readonly StoredOffset[]): void {
    for (const { partition, offset } of offsets) {
      const entry = this.#entryOf(partition);
      if (offset === null || entry.committable !== undefined) continue;
      entry.committable = offset;
      this.#moved.add(entry);
    }
  }

  #entryOf(partition: SourceCoordinates): Entry {
    if (partition === this.#lastPartition && this.#lastEntry !== undefined) return this.#lastEntry;
    const key = coordinatesKey(partition);
    let entry = this.#entries.get(key);
    if (entry === undefined) this.#entries.set(key, (entry = { partition, committable: undefined }));
    this.#lastPartition = partition;
    this.#lastEntry = entry;
    return entry;
  }
}

/** Returns the same text for equal coordinates, regardless of the order of their keys. */
export function coordinatesKey(coordinates: SourceCoordinates): string {
  return Object.keys(coordinates)
    .sort()
    .map((key) => {
      const value = coordinates[key];
      return `${JSON.stringify(key)}:${typeof value === 'string' ? JSON.stringify(value) : String(value)}`;
    })
    .join(',');
}
