import type { WorkerFlow } from '../common/answers.ts';

type Stage = WorkerFlow['stages'][number];

/** A box of the picture. */
export interface FlowBox {
  readonly kind: 'topics' | 'converter' | 'transform' | 'task' | 'tables';
  /** The alias, if the box is a transform. */
  readonly name: string;
  readonly className: string;
  /** Records a second. */
  readonly rate: number;
  readonly errors: number;
  /** Microseconds for one record; `null` if not measured. */
  readonly microseconds: number | null;
  /** The share of records that pass, from 0 to 1. */
  readonly passed: number;
}

/** The boxes with the figures of all workers, in the order in which records pass them. */
export function flowBoxes(workers: readonly WorkerFlow[], isSink: boolean): readonly FlowBox[] {
  const readRate = sum(workers, ({ readRate: rate }) => rate);
  const sentRate = sum(workers, ({ sentRate: rate }) => rate);
  const deliveredRate = sum(workers, ({ sentRate: rate, deliveredRate: delivered = rate }) => delivered);
  const stages = addedStages(workers);
  const [converter, ...transforms] = stages;
  const inStages = sum(stages, ({ errors }) => errors);
  const failed = Math.max(0, sum(workers, ({ errors }) => errors) - inStages);
  const ofTask = mean(workers, ({ taskMicroseconds }) => taskMicroseconds, weightOf);
  const ofWrite = mean(workers, ({ writeMicroseconds = null }) => writeMicroseconds, weightOf);
  const inPut = workers.some(({ areStagesInPut = false }) => areStagesInPut);
  const own =
    ofTask === null ? null : Math.max(0, ofTask - (inPut ? sum(stages, ({ microseconds }) => microseconds) : 0));
  let rate = readRate;
  const stage = (kind: FlowBox['kind'], each: Stage): FlowBox => {
    const box = { kind, ...each, rate, microseconds: each.samples === 0 ? null : each.microseconds };
    rate *= each.passed;
    return box;
  };
  const plain = { name: '', className: '', passed: 1 };
  const boxes = (of: FlowBox['kind'], each: readonly Stage[]): FlowBox[] => each.map((one) => stage(of, one));
  const converters = converter === undefined ? [] : [converter];
  if (isSink) {
    return [
      { ...plain, kind: 'topics', rate: readRate, errors: 0, microseconds: null },
      ...boxes('converter', converters),
      ...boxes('transform', transforms),
      { ...plain, kind: 'task', rate: sentRate, errors: failed, microseconds: own },
      { ...plain, kind: 'tables', rate: deliveredRate, errors: 0, microseconds: ofWrite },
    ];
  }
  return [
    { ...plain, kind: 'tables', rate: readRate, errors: 0, microseconds: null },
    { ...plain, kind: 'task', rate: readRate, errors: failed, microseconds: own },
    ...boxes('transform', transforms),
    ...boxes('converter', converters),
    { ...plain, kind: 'topics', rate: sentRate, errors: 0, microseconds: null },
  ];
}

/** Adds up the values of items with the same name, and sorts the sums, the largest first. */
export function addedUp<T extends { readonly name: string }>(
  items: readonly T[],
  value: (item: T) => number | null,
): readonly { readonly name: string; readonly value: number | null }[] {
  const found = new Map<string, number | null>();
  for (const item of items) {
    const known = found.get(item.name) ?? null;
    const own = value(item);
    found.set(item.name, own === null ? known : (known ?? 0) + own);
  }
  return [...found].map(([name, sumOf]) => ({ name, value: sumOf })).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
}

/** `850 µs`, `12.4 ms`, `3.1 s`. */
export function timeText(microseconds: number): string {
  if (microseconds < 1) return '< 1 µs';
  if (microseconds < 1000) return `${microseconds < 10 ? microseconds.toFixed(1) : microseconds.toFixed(0)} µs`;
  if (microseconds < 1e6) return `${(microseconds / 1e3).toFixed(1)} ms`;
  return `${(microseconds / 1e6).toFixed(1)} s`;
}

function weightOf({ sentRate, readRate }: WorkerFlow): number {
  return Math.max(sentRate, readRate, 1e-9);
}

/**
 * Combines the stages of all workers. While workers switch to another configuration, only the stages that have the same
 * name as on the first worker are counted.
 */
function addedStages(workers: readonly WorkerFlow[]): readonly Stage[] {
  const first = workers.find(({ stages }) => stages.length > 0)?.stages ?? [];
  return first.map((stage, index) => {
    const all = workers.flatMap(({ stages }) => stages[index] ?? []).filter(({ name }) => name === stage.name);
    return {
      ...stage,
      samples: sum(all, ({ samples }) => samples),
      microseconds:
        mean(
          all,
          ({ microseconds }) => microseconds,
          ({ samples }) => samples,
        ) ?? 0,
      passed:
        mean(
          all,
          ({ passed }) => passed,
          ({ samples }) => samples,
        ) ?? 1,
      errors: sum(all, ({ errors }) => errors),
    };
  });
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function mean<T>(items: readonly T[], value: (item: T) => number | null, weight: (item: T) => number): number | null {
  const known = items.filter((item) => value(item) !== null && weight(item) > 0);
  const all = sum(known, weight);
  return all === 0 ? null : sum(known, (item) => (value(item) ?? 0) * weight(item)) / all;
}
