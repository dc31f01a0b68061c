import type { SourceCoordinates } from '../../data/record.ts';
import type { StoredOffset } from './offset-storage.ts';
import { isBlock, type PolledPart } from './source-block.ts';

interface Entry {
  readonly partition: SourceCoordinates;
  committable: SourceCoordinates | undefined;
}

/**
 * The newest offset of each source partition that may be committed: its record and all before it in the same partition were
 * acknowledged (Connect's SubmittedRecords).
 */
export class OffsetTracker {
  readonly #entries = new Map<string, Entry>();
  /** Source partitions with a committable offset. */
  readonly #moved = new Set<Entry>();
  #lastPartition: SourceCoordinates | undefined;
  #lastEntry: Entry | undefined;

  /**
   * In the order in which they were polled. Of a partition with a lost record, nothing from that record on counts; a block with one
   * says nothing new.
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

  /** Takes the offsets that moved since the last take. */
  takeCommittable(): StoredOffset[] {
    const offsets: StoredOffset[] = [];
    for (const entry of this.#moved) {
      if (entry.committable !== undefined) offsets.push({ partition: entry.partition, offset: entry.committable });
      entry.committable = undefined;
    }
    this.#moved.clear();
    return offsets;
  }

  /** Gives back what a failed commit took, unless something newer has come since. */
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

/** One text for equal coordinates, whatever the order of their keys. */
export function coordinatesKey(coordinates: SourceCoordinates): string {
  return Object.keys(coordinates)
    .sort()
    .map((key) => {
      const value = coordinates[key];
      return `${JSON.stringify(key)}:${typeof value === 'string' ? JSON.stringify(value) : String(value)}`;
    })
    .join(',');
}
