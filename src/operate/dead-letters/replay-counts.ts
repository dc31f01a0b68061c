import type { ReplayedPartition, ReplayProgress } from '../../connect/dead-letters/replay-assignment.ts';
import type { PartitionOffset } from '../../connect/api.ts';

/** A selected record that was read: it counts as delivered unless a transform drops it or it fails again. */
interface OpenRecord {
  outcome: 'sent' | 'dropped' | 'failed';
  /**
   * Number of unselected records between this record and the next selected one. There may be millions, so they are only
   * counted.
   */
  unselected: number;
}

interface Part extends ReplayedPartition {
  /** All records before this offset were read. */
  reached: number;
  /** All records before this offset are stored, or have failed again. */
  stored: number;
  /** Selected records that were read and are not in the totals yet, by offset in ascending order. */
  readonly open: Map<number, OpenRecord>;
  /** The selected record that was read last. */
  newest: OpenRecord | undefined;
}

/** Interval of progress reports while nothing is committed. */
const REPORT_EVERY_MS = 1000;

/**
 * Counts the records of a replay's task. A record is added to the totals once it is stored or known to be unselected,
 * and all earlier records of its partition have been added. So the totals of a partition cover exactly the records
 * before one position, and are stored together with this position. A record that is read again counts once.
 */
export class ReplayCounts {
  readonly #parts: ReadonlyMap<number, Part>;
  readonly #onProgress: (progress: ReplayProgress) => void;
  readonly #totals = { read: 0, selected: 0, dropped: 0, failed: 0 };
  #reportAtMs = Date.now() + REPORT_EVERY_MS;
  #isDone = false;

  constructor(partitions: readonly ReplayedPartition[], onProgress: (progress: ReplayProgress) => void) {
    this.#parts = new Map(
      partitions.map((part) => [
        part.partition,
        {
          ...part,
          reached: part.counted,
          stored: part.counted,
          open: new Map<number, OpenRecord>(),
          newest: undefined,
        },
      ]),
    );
    this.#onProgress = onProgress;
  }

  /** Whether the record is in the offset range of the replay. */
  has({ partition, offset }: Place): boolean {
    const part = this.#parts.get(partition);
    return part !== undefined && offset >= part.from && offset < part.end;
  }

  /** All records of the partition before the returned offset are stored, or have failed again. */
  stored(partition: number): number {
    return this.#parts.get(partition)?.stored ?? 0;
  }

  isStored({ partition, offset }: Place): boolean {
    return offset < this.stored(partition);
  }

  isAtEnd(partition: number): boolean {
    const part = this.#parts.get(partition);
    return part === undefined || part.reached >= part.end;
  }

  /** Whether all records up to the end are in the totals. */
  get isComplete(): boolean {
    return [...this.#parts.values()].every(({ reached, end, open }) => reached >= end && open.size === 0);
  }

  /**
   * Called when a partition is assigned to the task. `position`: the committed offset, which may be after the records that
   * an earlier task has counted.
   * @returns the offset at which reading starts
   */
  assigned(partition: number, position = 0): number {
    return this.sought(partition, Math.max(position, this.#parts.get(partition)?.counted ?? 0));
  }

  /**
   * Called when the task seeks to an offset.
   * @returns the offset at which reading resumes, so that the counts miss no record
   */
  sought(partition: number, position: number): number {
    const part = this.#parts.get(partition);
    if (part === undefined) return position;
    part.stored = position;
    return Math.min(position, part.reached);
  }

  /**
   * Called when a record was read.
   * @returns `false` if it had been read before
   */
  read({ partition, offset }: Place, isSelected: boolean): boolean {
    const part = this.#parts.get(partition);
    if (part === undefined || offset < part.reached) return false;
    part.reached = offset + 1;
    if (isSelected) {
      part.newest = { outcome: 'sent', unselected: 0 };
      part.open.set(offset, part.newest);
    } else if (part.newest === undefined) this.#totals.read++;
    else part.newest.unselected++;
    return true;
  }

  dropped(record: Place): void {
    this.#settle(record, 'dropped');
  }

  failed(record: Place): void {
    this.#settle(record, 'failed');
  }

  #settle({ partition, offset }: Place, outcome: OpenRecord['outcome']): void {
    const record = this.#parts.get(partition)?.open.get(offset);
    if (record !== undefined) record.outcome = outcome;
  }

  /**
   * Called with the position of the consumer. All records before it were read, although some offsets may have no
   * record.
   */
  passed(partition: number, position: number): void {
    const part = this.#parts.get(partition);
    if (part === undefined) return;
    part.reached = Math.max(part.reached, Math.min(position, part.end));
    this.#addUp(part);
    if (Date.now() >= this.#reportAtMs) this.#report();
  }

  /** Called when all records before these offsets are stored, or have failed again. */
  committed(positions: readonly PartitionOffset[]): void {
    for (const { partition, offset } of positions) {
      const part = this.#parts.get(partition);
      if (part === undefined) continue;
      part.stored = Math.max(part.stored, offset);
      this.#addUp(part);
    }
    this.#report();
  }

  complete(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#report();
  }

  #addUp(part: Part): void {
    for (const [offset, { outcome, unselected }] of part.open) {
      if (offset >= part.stored) return;
      this.#totals.read += 1 + unselected;
      this.#totals.selected++;
      if (outcome !== 'sent') this.#totals[outcome]++;
      part.open.delete(offset);
    }
    part.newest = undefined;
  }

  #report(): void {
    this.#reportAtMs = Date.now() + REPORT_EVERY_MS;
    const positions = [...this.#parts.values()].map(({ partition, open, reached }) => {
      const [next = reached] = open.keys();
      return { partition, next };
    });
    this.#onProgress({ ...this.#totals, positions, isDone: this.#isDone });
  }
}

type Place = Pick<PartitionOffset, 'partition' | 'offset'>;
