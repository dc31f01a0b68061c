/** Measurements of a stage of a task: its converter, or one of its transforms. */
export interface StageFigures {
  /** `converter`, or the alias of a transform. */
  readonly name: string;
  readonly className: string;
  /** Records that were measured; 0: none yet. */
  readonly samples: number;
  /** Recent time for one record; 0 if none was measured. */
  readonly microseconds: number;
  /** The fraction of recent records that it did not drop, from 0 to 1. */
  readonly passed: number;
  /** Records that have failed in it. */
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

/** Keeps the cost of measuring below one percent. */
const RECORDS_PER_SAMPLE = 256;
/** One of this number of slices, structs that are read together, is measured. */
const SLICES_PER_SAMPLE = 128;
/** The weight of one sample in the mean. */
const WEIGHT = 0.02;
const CONVERTER = 0;

/** How long records take in the converter and in each transform. Some are measured: each reading of the clock costs. */
export class StageTimes {
  readonly #stages: readonly Stage[];
  #records = 1;
  #slices = 1;
  /** Converter and transforms run within `put`. */
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

  /** `ms`: for all of `records`. */
  converted(ms: number, records = 1): void {
    if (records > 0) this.#add(CONVERTER, ms / records);
  }

  /** `step`: which transform, from 0. */
  transformed(step: number, ms: number, hasPassed: boolean): void {
    this.#add(step + 1, ms);
    const stage = this.#stages[step + 1];
    if (stage !== undefined) stage.passed += ((hasPassed ? 1 : 0) - stage.passed) * weightOf(stage);
  }

  /** A record has failed in this transform; without one, in the converter. */
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

/** The mean of all samples while there are few. */
function weightOf({ samples }: Stage): number {
  return Math.max(WEIGHT, 1 / Math.max(1, samples));
}
