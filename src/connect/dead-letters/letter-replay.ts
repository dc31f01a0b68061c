import type { TopicPartition } from '../../data/record.ts';
import type { ConsumedBlock, ConsumedRecord, Consumer } from '../../kafka/api.ts';
import type { PartitionOffset } from '../api.ts';
import type { Throttle } from '../pipeline/throttle.ts';
import { deadLetter, replayedLetter, type DeadLetter } from './dead-letter.ts';
import { LetterPick } from './letter-selection.ts';
import { LetterSieve, NOT_PICKED, type LetterVerdict } from './letter-sieve.ts';
import type { ReplayAssignment, ReplayedPartition, ReplayProgress } from './replay-assignment.ts';

export interface LetterCounts {
  readonly read: number;
  /** Those of them that the selection has. */
  readonly selected: number;
  /** Those of the selected ones that transforms have left out. */
  readonly dropped: number;
}

/** Counts letters. */
export class LetterCounter implements LetterCounts {
  read = 0;
  selected = 0;
  dropped = 0;

  add(isSelected: boolean): void {
    this.read++;
    if (isSelected) this.selected++;
  }
}

const NO_LETTERS: LetterCounts = { read: 0, selected: 0, dropped: 0 };

/** Counts the letters of a block that lie before an offset and were not counted yet. */
type Recount = (block: ConsumedBlock, until: number) => Promise<LetterCounts>;

/** Records of one partition that were converted together. */
interface Portion extends LetterCounts {
  /** The offset behind the last one. */
  readonly end: number;
}

interface Part extends ReplayedPartition {
  /** Everything before it was handed out by the consumer, or has been counted. */
  reached: number;
  /** Everything before it is in the totals, or in portions. */
  taken: number;
  /** Everything before it is in the totals. */
  counted: number;
  next: number;
  /** Letters that failed, and are not in the totals yet. */
  readonly failed: Set<number>;
  /** Converted, and not stored yet. */
  readonly portions: Portion[];
}

export interface ReplaySurroundings {
  /** Counts letters of the selection alone. */
  readonly throttle: Pick<Throttle, 'taken'>;
  readonly onProgress: (progress: ReplayProgress) => void;
}

const END_CHECK_MS = 200;

/** What one task reads when it replays dead letters: which of them, how fast, how far, and when it is done. */
export class LetterReplay {
  readonly #topic: string;
  readonly #parts: ReadonlyMap<number, Part>;
  readonly #pick: LetterPick;
  readonly #sieve: LetterSieve;
  readonly #throttle: Pick<Throttle, 'taken'>;
  readonly #onProgress: (progress: ReplayProgress) => void;
  readonly #totals = { read: 0, selected: 0, dropped: 0, failed: 0 };
  readonly #group: string;
  #recount: Recount = () => Promise.resolve(NO_LETTERS);
  isDone = false;

  constructor(
    connector: string,
    { topic, group, partitions, selection }: ReplayAssignment,
    { throttle, onProgress }: ReplaySurroundings,
  ) {
    this.#throttle = throttle;
    this.#onProgress = onProgress;
    this.#topic = topic;
    this.#group = group;
    this.#pick = new LetterPick(connector, selection);
    this.#sieve = new LetterSieve(this.#pick);
    this.#parts = new Map(partitions.map((part) => [part.partition, startOf(part)]));
  }

  get topics(): readonly string[] {
    return [this.#topic];
  }

  /** The task was assigned partitions: those that were not read yet are read from where the replay begins. */
  begin(consumer: Pick<Consumer, 'position' | 'seek' | 'pause'>, partitions: readonly TopicPartition[]): void {
    for (const { topic, partition } of partitions) {
      const part = this.#parts.get(partition);
      if (part === undefined) continue;
      const position = consumer.position({ topic, partition });
      if (position === undefined || position < part.from) consumer.seek({ topic, partition, offset: part.from });
    }
    this.#pauseEnded(consumer, partitions);
  }

  /** How many milliseconds the next poll may wait. */
  beforePoll(consumer: Pick<Consumer, 'position' | 'pause' | 'assignment'>): number {
    this.#pauseEnded(consumer, consumer.assignment());
    return this.isAtEnd(consumer) ? END_CHECK_MS : Infinity;
  }

  /** Records behind the end came after the replay was started: some of them are its own. */
  #pauseEnded(consumer: Pick<Consumer, 'position' | 'pause'>, assignment: readonly TopicPartition[]): void {
    const ended = assignment.filter((each) => this.#isAtEnd(consumer, each));
    if (ended.length > 0) consumer.pause(ended);
  }

  /** Whether all that is to be read was read; not before partitions were assigned. */
  isAtEnd(consumer: Pick<Consumer, 'position' | 'assignment'>): boolean {
    const assignment = consumer.assignment();
    if (assignment.length === 0) return false;
    const partitions = new Set(assignment.map(({ partition }) => partition));
    const isAll = [...this.#parts.values()].every(
      ({ partition, from, end }) => from >= end || partitions.has(partition),
    );
    return isAll && assignment.every((each) => this.#isAtEnd(consumer, each));
  }

  #isAtEnd(consumer: Pick<Consumer, 'position'>, { topic, partition }: TopicPartition): boolean {
    const part = this.#parts.get(partition);
    if (part === undefined) return true;
    return part.reached >= part.end && (consumer.position({ topic, partition }) ?? 0) >= part.end;
  }

  /** The letter that a record of the topic is, when it is one of the selection. */
  selected(record: ConsumedRecord): DeadLetter | undefined {
    const part = this.#parts.get(record.partition);
    if (part === undefined || record.offset < part.from || record.offset >= part.end) return undefined;
    const letter = deadLetter(record);
    return this.#pick.has(letter) ? letter : undefined;
  }

  /** Whether a letter of a block is one of the selection. */
  look(block: ConsumedBlock, index: number): LetterVerdict {
    const part = this.#parts.get(block.partition);
    const offset = block.offsets[index] ?? -1;
    return part === undefined || offset < part.from || offset >= part.end ? NOT_PICKED : this.#sieve.look(block, index);
  }

  /** Whether a record is to be counted: those that are read again are counted once. */
  isNew(partition: number, offset: number): boolean {
    const part = this.#parts.get(partition);
    return part !== undefined && offset >= part.taken && offset < part.end;
  }

  /** Takes the counts of records that were converted; `end`: the offset behind the last one. */
  converted(partition: number, end: number, counts: LetterCounts): void {
    this.#throttle.taken(counts.selected, 0);
    this.#count(partition, end, counts);
  }

  #count(partition: number, end: number, { read, selected, dropped }: LetterCounts): void {
    const part = this.#parts.get(partition);
    if (part === undefined || read === 0) return;
    part.taken = Math.min(end, part.end);
    part.portions.push({ end: part.taken, read, selected, dropped });
  }

  /** `recount` is called with letters that an earlier task has delivered. */
  recountBy(recount: Recount): void {
    this.#recount = recount;
  }

  /** The first letter before a position that nobody has counted; `undefined`: there is none. */
  uncounted(partition: number, position: number): number | undefined {
    const part = this.#parts.get(partition);
    return part !== undefined && part.reached < Math.min(position, part.end) ? part.reached : undefined;
  }

  /** All letters before the position were handed out, or have been counted. */
  reached(partition: number, position: number): void {
    const part = this.#parts.get(partition);
    if (part !== undefined) part.reached = Math.max(part.reached, Math.min(position, part.end));
  }

  /** Counts letters before an offset that are not delivered again. */
  async recount(block: ConsumedBlock, until: number): Promise<void> {
    const counts = await this.#recount(block, until);
    const end = Math.min(until, (block.offsets[block.count - 1] ?? -1) + 1);
    this.#count(block.partition, end, counts);
    this.reached(block.partition, end);
  }

  /** A letter has failed once more; one that fails when it is read again counts once. */
  failed(partition: number, offset: number): void {
    const part = this.#parts.get(partition);
    if (part !== undefined && offset >= part.counted) part.failed.add(offset);
  }

  /** What the letters that come of a failure say of the one that was replayed. */
  nameOf(letter: Pick<ConsumedRecord, 'partition' | 'offset'>): string {
    return replayedLetter(this.#group, letter);
  }

  /** Everything before these offsets is stored, or was reported. */
  passed(positions: readonly PartitionOffset[]): void {
    this.#pass(positions);
    this.#onProgress(this.#progress());
  }

  #pass(positions: readonly PartitionOffset[]): void {
    for (const { topic, partition, offset } of positions) {
      const part = topic === this.#topic ? this.#parts.get(partition) : undefined;
      if (part === undefined) continue;
      part.next = Math.max(part.next, Math.min(offset, part.reached));
      this.#addUp(part);
    }
  }

  #addUp(part: Part): void {
    const { portions, failed, next } = part;
    let open = portions[0];
    for (; open !== undefined && open.end <= next; open = portions[0]) {
      this.#totals.read += open.read;
      this.#totals.selected += open.selected;
      this.#totals.dropped += open.dropped;
      part.counted = open.end;
      portions.shift();
    }
    if (open === undefined) part.counted = Math.max(part.counted, next);
    for (const offset of failed) if (offset < part.counted && failed.delete(offset)) this.#totals.failed++;
  }

  /** All is stored: what is left are gaps in the offsets. */
  end(): void {
    this.isDone = true;
    const topic = this.#topic;
    for (const { partition, end } of this.#parts.values()) this.reached(partition, end);
    this.passed([...this.#parts.values()].map(({ partition, end }) => ({ topic, partition, offset: end })));
  }

  #progress(): ReplayProgress {
    const positions = [...this.#parts.values()].map(({ partition, next, counted }) => ({ partition, next, counted }));
    return { ...this.#totals, positions, isDone: this.isDone };
  }
}

function startOf(part: ReplayedPartition): Part {
  const { counted } = part;
  return { ...part, reached: counted, taken: counted, next: counted, portions: [], failed: new Set() };
}
