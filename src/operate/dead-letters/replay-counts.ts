import type { ReplayedPartition, ReplayProgress } from '../../connect/dead-letters/replay-assignment.ts';
import type { PartitionOffset } from '../../connect/api.ts';

/** A selected letter that was read: it is sent, unless a transform drops it or it fails once more. */
interface OpenLetter {
  outcome: 'sent' | 'dropped' | 'failed';
  /** Letters that were read between it and the next selected one; as a number, because there may be millions. */
  unselected: number;
}

interface Part extends ReplayedPartition {
  /** All letters before it were read. */
  reached: number;
  /** All letters before it are stored, or have failed once more. */
  stored: number;
  /** Selected letters that were read and are not in the totals yet, by offset, in order. */
  readonly open: Map<number, OpenLetter>;
  /** The one that was read last. */
  newest: OpenLetter | undefined;
}

/** How often progress is reported while nothing is committed. */
const REPORT_EVERY_MS = 1000;

/**
 * How far the task of a replay has come. A letter is in the totals once it is stored, or not selected, and all letters before it are in
 * them as well: so the totals of a partition are those of all letters before one position, and both can be kept together. A letter that is
 * read again counts once.
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
          open: new Map<number, OpenLetter>(),
          newest: undefined,
        },
      ]),
    );
    this.#onProgress = onProgress;
  }

  /** Whether the replay reads this letter; those after its end were written since it began. */
  has({ partition, offset }: Place): boolean {
    const part = this.#parts.get(partition);
    return part !== undefined && offset >= part.from && offset < part.end;
  }

  /** All letters of the partition before it are stored, or have failed once more. */
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

  /** Whether all letters up to the end are in the totals. */
  get isComplete(): boolean {
    return [...this.#parts.values()].every(({ reached, end, open }) => reached >= end && open.size === 0);
  }

  /**
   * The group has this position. An earlier task may have stored more letters than it has counted.
   * @returns where reading starts
   */
  assigned(partition: number, position = 0): number {
    return this.sought(partition, Math.max(position, this.#parts.get(partition)?.counted ?? 0));
  }

  /** The task wants the letters from this position on. @returns where reading resumes: no letter is left out of the counts */
  sought(partition: number, position: number): number {
    const part = this.#parts.get(partition);
    if (part === undefined) return position;
    part.stored = position;
    return Math.min(position, part.reached);
  }

  /** A letter was read. @returns `false` if it had been read before */
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

  dropped(letter: Place): void {
    this.#settle(letter, 'dropped');
  }

  failed(letter: Place): void {
    this.#settle(letter, 'failed');
  }

  #settle({ partition, offset }: Place, outcome: OpenLetter['outcome']): void {
    const letter = this.#parts.get(partition)?.open.get(offset);
    if (letter !== undefined) letter.outcome = outcome;
  }

  /** All letters before the position were read; there may be offsets without letters. */
  passed(partition: number, position: number): void {
    const part = this.#parts.get(partition);
    if (part === undefined) return;
    part.reached = Math.max(part.reached, Math.min(position, part.end));
    this.#addUp(part);
    if (Date.now() >= this.#reportAtMs) this.#report();
  }

  /** All letters before the positions are stored, or have failed once more. */
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
