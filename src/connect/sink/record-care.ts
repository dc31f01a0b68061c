import { ConnectError } from '../../errors.ts';
import type { RecordBlock } from '../../kafka/api.ts';
import type { RecordRange } from '../../observe/work-place.ts';
import type { PartitionOffset } from '../api.ts';
import type { ErrorPolicy } from '../pipeline/error-policy.ts';
import type { PoisonedRecord, TaskCare } from '../task-assignment.ts';

/** Maximum number of steps into which a suspect range is divided. Each step ends with a commit. */
const MAX_STEPS = 1000;
const NO_CARE: TaskCare = { suspects: [], poisoned: [] };
const TRANSFORMATION = 'org.apache.kafka.connect.transforms.Transformation';
const SINK_TASK = 'org.apache.kafka.connect.sink.SinkTask';

/** Consecutive records of a block that are handled in the same way, by their indices. */
export interface Step {
  readonly from: number;
  readonly to: number;
  /** True if the records must be put separately and committed before any others are put. */
  readonly isCareful: boolean;
  /** Set if the step consists of a poisoned record, which must not be converted. */
  readonly poisoned: PoisonedRecord | undefined;
}

/** Data for the report of a poisoned record to the error policy. */
export interface CareSurroundings {
  readonly errors: ErrorPolicy;
  readonly valueConverter: string;
  readonly hasTransforms: boolean;
}

/**
 * Handles the records that may have ended threads (TaskCare). Suspect records are put in small steps, so that fewer
 * records remain suspect if another thread ends. Poisoned records are passed to the error policy instead.
 */
export class RecordCare {
  #suspects: readonly RecordRange[] = [];
  #poisoned: readonly PoisonedRecord[] = [];
  readonly #surroundings: CareSurroundings;

  constructor(care: TaskCare | undefined, surroundings: CareSurroundings) {
    this.#surroundings = surroundings;
    this.set(care ?? NO_CARE);
  }

  set({ suspects, poisoned }: TaskCare): void {
    this.#suspects = suspects;
    this.#poisoned = poisoned;
  }

  /** True if the block contains suspect or poisoned records. */
  concerns({ topic, partition, offsets, count }: RecordBlock): boolean {
    if (this.#suspects.length === 0 && this.#poisoned.length === 0) return false;
    const from = offsets[0] ?? 0;
    const to = (offsets[count - 1] ?? -1) + 1;
    return this.#rangesOf(topic, partition).some((range) => range.from < to && from < range.to);
  }

  /** Divides a block into consecutive steps. */
  steps({ topic, partition, offsets, count }: RecordBlock): readonly Step[] {
    const ranges = this.#rangesOf(topic, partition);
    const steps: Step[] = [];
    for (let from = 0; from < count;) {
      const offset = offsets[from] ?? 0;
      const end = endOfStep(ranges, offset);
      let to = from + 1;
      while (to < count && (offsets[to] ?? 0) < end) to++;
      steps.push({
        from,
        to,
        isCareful: ranges.some((range) => contains(range, offset)),
        poisoned: this.#poisoned.find(
          (each) => each.topic === topic && each.partition === partition && each.offset === offset,
        ),
      });
      from = to;
    }
    return steps;
  }

  /** Reports a poisoned record. Resolves if the error policy skips the record; otherwise rejects. */
  async refuse(poisoned: PoisonedRecord, block: RecordBlock, index: number): Promise<void> {
    const { errors, valueConverter, hasTransforms } = this.#surroundings;
    const error = new ConnectError(poisoned.message, { scope: 'record' });
    error.stack = `${error.name}: ${error.message}\n${poisoned.stack}`;
    const consumed = block.record(index);
    if (poisoned.stage === 'put') await errors.failed({ stage: 'TASK_PUT', className: SINK_TASK, error, consumed });
    else if (hasTransforms)
      await errors.failed({ stage: 'TRANSFORMATION', className: TRANSFORMATION, error, consumed });
    else await errors.failed({ stage: 'VALUE_CONVERTER', className: valueConverter, error, consumed });
  }

  /**
   * Called when all records before the offset are stored or skipped. Forgets the poisoned records before the offset and the
   * suspect ranges that end there or earlier. Returns true if there were any.
   */
  pass({ topic, partition, offset }: PartitionOffset): boolean {
    const count = this.#suspects.length + this.#poisoned.length;
    if (count === 0) return false;
    const isBefore = (each: { topic: string; partition: number }, to: number) =>
      each.topic === topic && each.partition === partition && to <= offset;
    this.#suspects = this.#suspects.filter((each) => !isBefore(each, each.to));
    this.#poisoned = this.#poisoned.filter((each) => !isBefore(each, each.offset + 1));
    return this.#suspects.length + this.#poisoned.length < count;
  }

  /** Suspect ranges of the partition, and a range of one record for each of its poisoned records. */
  #rangesOf(topic: string, partition: number): readonly RecordRange[] {
    const poisoned = this.#poisoned.map((each) => ({ ...each, from: each.offset, to: each.offset + 1 }));
    return [...poisoned, ...this.#suspects].filter((each) => each.topic === topic && each.partition === partition);
  }
}

function contains({ from, to }: RecordRange, offset: number): boolean {
  return from <= offset && offset < to;
}

/** Returns the end of the step that begins at `offset`, as an exclusive offset. */
function endOfStep(ranges: readonly RecordRange[], offset: number): number {
  let end = Infinity;
  for (const range of ranges) {
    if (range.from > offset) end = Math.min(end, range.from);
    if (!contains(range, offset)) continue;
    const size = Math.ceil((range.to - range.from) / MAX_STEPS);
    const steps = Math.floor((offset - range.from) / size) + 1;
    end = Math.min(end, range.to, range.from + steps * size);
  }
  return end;
}
