/** Measurements of one stage of a task. The converters are one stage, and each transform is one. */
export interface StageFigures {
  /** `converter`, or the alias of the transform. */
  readonly name: string;
  readonly className: string;
  /** Number of records that were measured. */
  readonly samples: number;
  /** Recent time per record; 0 if no record was measured. */
  readonly microseconds: number;
  /** The fraction of recent records that the stage did not drop, from 0 to 1. */
  readonly passed: number;
  /** Number of records that failed in the stage. */
  readonly errors: number;
}

interface Stage {
  readonly name: string;
  readonly className: string;
  samples: number;
  ms: number;
  passed: number;
  errors: number;
}

/** One in this many records is measured, which limits the cost of measuring to less than one percent. */
const RECORDS_PER_SAMPLE = 256;
/** One in this many slices is measured. A slice consists of structs that are read together. */
const SLICES_PER_SAMPLE = 128;
/** The weight of one sample in the moving average. */
const WEIGHT = 0.02;
const CONVERTER = 0;

/**
 * Measures how long records take in the converter and in each transform. Only some records are measured, because reading the
 * clock takes time.
 */
export class StageTimes {
  readonly #stages: readonly Stage[];
  #records = 1;
  #slices = 1;
  /** True if converter and transforms run within `put`. */
  isInPut = false;

  constructor(steps: readonly { readonly alias?: string; readonly className: string }[]) {
    this.#stages = [{ alias: 'converter', className: '' }, ...steps].map(({ alias = '', className }) => ({
      name: alias,
      className,
      samples: 0,
      ms: 0,
      passed: 1,
      errors: 0,
    }));
  }

  /** Whether the next record is measured. */
  isRecordDue(): boolean {
    if (--this.#records > 0) return false;
    this.#records = RECORDS_PER_SAMPLE;
    return true;
  }

  /** Whether the next slice of structs is measured. */
  isSliceDue(): boolean {
    if (--this.#slices > 0) return false;
    this.#slices = SLICES_PER_SAMPLE;
    return true;
  }

  /** Adds a measurement of the converter. `ms` is the total time of all `records`. */
  converted(ms: number, records = 1): void {
    if (records > 0) this.#add(CONVERTER, ms / records);
  }

  /** Adds a measurement of a transform. `step` is the index of the transform. */
  transformed(step: number, ms: number, hasPassed: boolean): void {
    this.#add(step + 1, ms);
    const stage = this.#stages[step + 1];
    if (stage !== undefined) stage.passed += ((hasPassed ? 1 : 0) - stage.passed) * weightOf(stage);
  }

  /** Counts a record that failed in this transform, or in the converter if `step` is absent. */
  failed(step?: number): void {
    const stage = this.#stages[step === undefined ? CONVERTER : step + 1];
    if (stage !== undefined) stage.errors += 1;
  }

  details(): { readonly stages: readonly StageFigures[]; readonly areStagesInPut: boolean } {
    const stages = this.#stages.map(({ ms, ...rest }) => ({ ...rest, microseconds: ms * 1000 }));
    return { stages, areStagesInPut: this.isInPut };
  }

  #add(index: number, ms: number): void {
    const stage = this.#stages[index];
    if (stage === undefined) return;
    stage.samples += 1;
    stage.ms += (ms - stage.ms) * weightOf(stage);
  }
}

/** Weight of a new sample. While there are few samples, the result is their arithmetic mean. */
function weightOf({ samples }: Stage): number {
  return Math.max(WEIGHT, 1 / Math.max(1, samples));
}
