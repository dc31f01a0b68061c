import { signal } from '@preact/signals';
import { connectorPath, requestText } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { connectorAddress } from '../common/addresses.ts';
import { setUnfinished } from '../common/unfinished.ts';
import { texts } from '../texts/offsets.ts';
import { takeSteps, type ChangeReport, type OffsetsChange, type Step } from './offset-steps.ts';

/** A change of offsets, in progress or ended. It continues when the user leaves the view. */
export interface OffsetRun {
  readonly steps: readonly Step[];
  readonly change: OffsetsChange;
  /** The record that the address proposed to skip when the change began. */
  readonly skip?: string | undefined;
  readonly report: ChangeReport;
}

const runs = signal<ReadonlyMap<string, OffsetRun>>(new Map());

export function offsetRun(name: string): OffsetRun | undefined {
  return runs.value.get(name);
}

export function forgetOffsetRun(name: string): void {
  const next = new Map(runs.peek());
  next.delete(name);
  runs.value = next;
  markUnfinished(name, false);
}

/** Runs the remaining steps `left` of a change. `done`: the steps that were completed earlier. */
export async function runOffsetSteps(
  name: string,
  { steps, change, skip }: Omit<OffsetRun, 'report'>,
  left: readonly Step[],
  done: readonly Step[] = [],
): Promise<void> {
  const send = (method: string, path: string, json?: string) => requestText(method, connectorPath(name) + path, json);
  await takeSteps(left, change, send, (each) => {
    const report = { ...each, done: [...done, ...each.done] };
    runs.value = new Map(runs.peek()).set(name, { steps, change, skip, report });
    markUnfinished(name, report.at !== undefined);
  });
  await refresh().catch(() => undefined);
}

function markUnfinished(name: string, isUnfinished: boolean): void {
  setUnfinished({ address: connectorAddress(name, 'offsets'), title: texts.offsetsOf(name) }, isUnfinished);
}
