/** Number of tasks of one thread with a slot of their own; further tasks share the last slot. */
const SLOTS = 64;
const SLOT_BYTES = 4096;
const CELLS = { sinceMs: 0, partition: 1, offset: 2 } as const;
const CELL_BYTES = 24;
const LENGTH_BYTES = 8;
const TEXT_BYTES = SLOT_BYTES - CELL_BYTES - LENGTH_BYTES;
/**
 * Maximum length of the ranges in a slot, as JSON. The rest of the slot is enough for the other texts, such as a topic
 * name.
 */
const RANGES_LENGTH = 2400;
const LAST_BYTES = 8;
/** Size of the shared memory of one thread. */
export const WORK_PLACES_BYTES = LAST_BYTES + SLOTS * SLOT_BYTES;

/** Records of one partition: offsets from `from` up to, but not including, `to`. */
export interface RecordRange {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** The last known activity of a task: the stage of its work, and the records of this stage. */
export interface Place {
  /** `sink-0` */
  readonly task: string;
  /** For example `put of 500 records`. */
  readonly stage: string;
  /** If the task makes no progress, these records may be the reason; the records of the stage are the last ones. */
  readonly ranges: readonly RecordRange[];
  /** The current record, if the stage handles single records. */
  readonly record: RecordRange | undefined;
  /** When the stage began, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

interface SlotText {
  readonly task: string;
  readonly stage: string;
  readonly topic?: string;
  readonly ranges: readonly RecordRange[];
}

const encoder = new TextEncoder();

/**
 * Records what the tasks of this thread are doing (see Place), in memory that the main thread can read even if this thread is in an
 * endless loop. Each task has a slot. Setting the current record costs three stores.
 */
class WorkPlaces {
  #buffer: SharedArrayBuffer = new SharedArrayBuffer(WORK_PLACES_BYTES);
  readonly #used = new Set<number>();

  /** Must be called before any task runs. */
  share(buffer: SharedArrayBuffer): void {
    this.#buffer = buffer;
    this.#used.clear();
    lastOf(buffer)[0] = -1;
  }

  /** Assigns a slot to a task until the returned object is closed. */
  open(task: string): TaskPlace {
    let slot = 0;
    while (this.#used.has(slot) && slot < SLOTS - 1) slot++;
    this.#used.add(slot);
    return new TaskPlace(task, slot, this.#buffer, () => this.#used.delete(slot));
  }
}

/** @internal */
export class TaskPlace {
  readonly #task: string;
  readonly #slot: number;
  readonly #last: Int32Array;
  readonly #cells: Float64Array;
  readonly #length: Int32Array;
  readonly #text: Uint8Array;
  readonly #onClose: () => void;
  #stage = '';
  #ranges: readonly RecordRange[] = [];
  #topic: string | undefined;

  constructor(task: string, slot: number, buffer: SharedArrayBuffer, onClose: () => void) {
    this.#task = task;
    this.#slot = slot;
    this.#last = lastOf(buffer);
    this.#cells = cellsOf(buffer, slot);
    this.#length = lengthOf(buffer, slot);
    this.#text = new Uint8Array(buffer, textAt(slot), TEXT_BYTES);
    this.#onClose = onClose;
  }

  /** The task starts a stage with records that may be the reason if it makes no progress. Called per batch, not per record. */
  enter(stage: string, ranges: readonly RecordRange[] = []): void {
    this.#stage = stage;
    this.#ranges = short(ranges);
    this.#cells[CELLS.offset] = -1;
    this.#write(undefined);
    this.#last[0] = this.#slot;
    this.#cells[CELLS.sinceMs] = Date.now();
  }

  /** Sets the current record of the stage. */
  record(topic: string, partition: number, offset: number): void {
    if (topic !== this.#topic) this.#write(topic);
    this.#last[0] = this.#slot;
    this.#cells[CELLS.partition] = partition;
    this.#cells[CELLS.offset] = offset;
  }

  /** The stage no longer handles a record. */
  leaveRecord(): void {
    this.#cells[CELLS.offset] = -1;
  }

  close(): void {
    this.#length[0] = 0;
    this.#onClose();
  }

  #write(topic: string | undefined): void {
    this.#topic = topic;
    const slotText: SlotText = {
      task: this.#task,
      stage: this.#stage,
      ranges: this.#ranges,
      ...(topic === undefined ? {} : { topic }),
    };
    const text = JSON.stringify(slotText);
    const { read, written } = encoder.encodeInto(text, this.#text);
    this.#length[0] = read === text.length ? written : 0;
  }
}

/** The last ranges, as many as fit. */
function short(ranges: readonly RecordRange[]): readonly RecordRange[] {
  let from = ranges.length;
  for (let left = RANGES_LENGTH; from > 0; from--) {
    left -= JSON.stringify(ranges[from - 1]).length + 1;
    if (left < 0) break;
  }
  return from === 0 ? ranges : ranges.slice(from);
}

/**
 * Reads from the shared memory of a thread what a task was doing. `task` is the name of the task; if it is absent, the slot that was
 * written last is read.
 * @returns `undefined` if nothing is known
 */
export function readPlace(buffer: SharedArrayBuffer, task?: string): Place | undefined {
  const slots = task === undefined ? [lastOf(buffer)[0] ?? -1] : Array.from({ length: SLOTS }, (_, slot) => slot);
  for (const slot of slots) {
    const found = slot < 0 ? undefined : slotText(buffer, slot);
    if (found === undefined || (task !== undefined && found.task !== task)) continue;
    const [sinceMs = 0, partition = -1, offset = -1] = cellsOf(buffer, slot);
    const { topic } = found;
    const isKnown = topic !== undefined && offset >= 0;
    return {
      task: found.task,
      stage: found.stage,
      ranges: found.ranges,
      record: isKnown ? { topic, partition, from: offset, to: offset + 1 } : undefined,
      sinceMs,
    };
  }
  return undefined;
}

/** `undefined` for invalid JSON, because the thread may be writing. */
function slotText(buffer: SharedArrayBuffer, slot: number): SlotText | undefined {
  const length = lengthOf(buffer, slot)[0] ?? 0;
  if (length <= 0 || length > TEXT_BYTES) return undefined;
  try {
    const bytes = Buffer.from(new Uint8Array(buffer, textAt(slot), length));
    return JSON.parse(bytes.toString()) as SlotText;
  } catch {
    return undefined;
  }
}

/** The index of the slot that was written last; -1 if there is none. */
function lastOf(buffer: SharedArrayBuffer): Int32Array {
  return new Int32Array(buffer, 0, 1);
}

function cellsOf(buffer: SharedArrayBuffer, slot: number): Float64Array {
  return new Float64Array(buffer, LAST_BYTES + slot * SLOT_BYTES, CELL_BYTES / 8);
}

function lengthOf(buffer: SharedArrayBuffer, slot: number): Int32Array {
  return new Int32Array(buffer, LAST_BYTES + slot * SLOT_BYTES + CELL_BYTES, 1);
}

function textAt(slot: number): number {
  return LAST_BYTES + slot * SLOT_BYTES + CELL_BYTES + LENGTH_BYTES;
}

/** The slots of the tasks of this thread. */
export const workPlaces = new WorkPlaces();
