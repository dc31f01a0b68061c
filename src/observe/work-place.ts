/** Tasks of one thread that have a place of their own; further ones share the last. */
const SLOTS = 64;
const SLOT_BYTES = 512;
const CELLS = { slot: 0, sinceMs: 1, partition: 2, offset: 3 } as const;
const CELL_BYTES = 64;
const LENGTH_BYTES = 4;
/** Size of the shared memory of one thread. */
export const WORK_PLACES_BYTES = CELL_BYTES + SLOTS * SLOT_BYTES;

/** What a task was at when it was last seen. */
export interface Place {
  /** `sink-0` */
  readonly task: string;
  /** Such as `put of 500 records`. */
  readonly stage: string;
  readonly topic: string | undefined;
  /** The record itself, where the stage goes from record to record. */
  readonly partition: number | undefined;
  readonly offset: number | undefined;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
}

interface SlotText {
  readonly task: string;
  readonly stage: string;
  readonly topic?: string;
}

const encoder = new TextEncoder();

/**
 * Where the tasks of this thread are, in memory that the main thread can read while the thread is in an endless loop: each task
 * has a slot with its stage; the record costs three stores.
 */
class WorkPlaces {
  #buffer: SharedArrayBuffer = new SharedArrayBuffer(WORK_PLACES_BYTES);
  #cells = new Float64Array(this.#buffer, 0, CELL_BYTES / 8);
  readonly #used = new Set<number>();

  /** To be called before any task runs. */
  share(buffer: SharedArrayBuffer): void {
    this.#buffer = buffer;
    this.#cells = new Float64Array(buffer, 0, CELL_BYTES / 8);
    this.#cells[CELLS.slot] = -1;
  }

  /** The place of one task, until it is closed. */
  open(task: string): TaskPlace {
    let slot = 0;
    while (this.#used.has(slot) && slot < SLOTS - 1) slot++;
    this.#used.add(slot);
    return new TaskPlace(task, slot, this.#cells, this.#buffer, () => this.#used.delete(slot));
  }
}

/** @internal */
export class TaskPlace {
  readonly #task: string;
  readonly #slot: number;
  readonly #cells: Float64Array;
  readonly #length: Int32Array;
  readonly #text: Uint8Array;
  readonly #onClose: () => void;
  #stage = '';
  #topic: string | undefined;

  constructor(task: string, slot: number, cells: Float64Array, buffer: SharedArrayBuffer, onClose: () => void) {
    const at = CELL_BYTES + slot * SLOT_BYTES;
    this.#task = task;
    this.#slot = slot;
    this.#cells = cells;
    this.#length = new Int32Array(buffer, at, 1);
    this.#text = new Uint8Array(buffer, at + LENGTH_BYTES, SLOT_BYTES - LENGTH_BYTES);
    this.#onClose = onClose;
  }

  /** The task begins something; for a batch, not for a record. */
  enter(stage: string): void {
    this.#stage = stage;
    this.#write(undefined);
    this.#cells[CELLS.slot] = this.#slot;
    this.#cells[CELLS.sinceMs] = Date.now();
    this.#cells[CELLS.partition] = -1;
    this.#cells[CELLS.offset] = -1;
  }

  /** The record that the stage is at. */
  record(topic: string, partition: number, offset: number): void {
    if (topic !== this.#topic) this.#write(topic);
    this.#cells[CELLS.slot] = this.#slot;
    this.#cells[CELLS.partition] = partition;
    this.#cells[CELLS.offset] = offset;
  }

  close(): void {
    this.#length[0] = 0;
    this.#onClose();
  }

  #write(topic: string | undefined): void {
    this.#topic = topic;
    const text = JSON.stringify({ task: this.#task, stage: this.#stage, topic });
    const { read, written } = encoder.encodeInto(text, this.#text);
    this.#length[0] = read === text.length ? written : 0;
  }
}

/**
 * What is written in the shared memory of a thread. `task`: whose place; without it, the place that was entered last.
 * @returns `undefined` when nothing is known
 */
export function readPlace(buffer: SharedArrayBuffer, task?: string): Place | undefined {
  const cells = new Float64Array(buffer, 0, CELL_BYTES / 8);
  const last = cells[CELLS.slot] ?? -1;
  const slots = task === undefined ? [last] : Array.from({ length: SLOTS }, (_, slot) => slot);
  for (const slot of slots) {
    const found = slot < 0 ? undefined : slotText(buffer, slot);
    if (found === undefined || (task !== undefined && found.task !== task)) continue;
    const [partition = -1, offset = -1] = slot === last ? cells.subarray(CELLS.partition, CELLS.offset + 1) : [];
    return {
      task: found.task,
      stage: found.stage,
      topic: found.topic,
      partition: partition < 0 ? undefined : partition,
      offset: offset < 0 ? undefined : offset,
      sinceMs: cells[CELLS.sinceMs] ?? 0,
    };
  }
  return undefined;
}

/** The thread may be writing: a text that is no JSON is not known. */
function slotText(buffer: SharedArrayBuffer, slot: number): SlotText | undefined {
  const at = CELL_BYTES + slot * SLOT_BYTES;
  const length = new Int32Array(buffer, at, 1)[0] ?? 0;
  if (length <= 0 || length > SLOT_BYTES - LENGTH_BYTES) return undefined;
  try {
    const bytes = Buffer.from(new Uint8Array(buffer, at + LENGTH_BYTES, length));
    return JSON.parse(bytes.toString()) as SlotText;
  } catch {
    return undefined;
  }
}

/** Those of this thread. */
export const workPlaces = new WorkPlaces();
