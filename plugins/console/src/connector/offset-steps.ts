import { exactText } from '../common/exact-json.ts';
import type { OffsetEntry } from './offset-rows.ts';

export type Step = 'stop' | 'set' | 'resume' | 'pause';

/** The progress of a change of offsets. */
export interface ChangeReport {
  /** The completed steps, in order. */
  readonly done: readonly Step[];
  /** The current step, or the one that failed with `problem`. */
  readonly at: Step | undefined;
  readonly problem: string | undefined;
}

/** `'all'`: every offset is removed. */
export type OffsetsChange = readonly OffsetEntry[] | 'all';

/** Sends a request about the connector; `path` follows its name. */
export type Send = (method: string, path: string, json?: string) => Promise<unknown>;

const AGAIN_MS = 1000;
const MAX_TRIES = 45;
/** Errors that pass: tasks are still stopping, or a rebalance is in progress. */
const MAY_PASS = /stopped completely|rebalance/;

/** Offsets can only be set while a connector is stopped; afterwards its previous state is restored. */
export function stepsFrom(state: string): readonly Step[] {
  if (state === 'STOPPED') return ['set'];
  return ['stop', 'set', state === 'PAUSED' ? 'pause' : 'resume'];
}

/** Takes the steps one after another until one fails, and reports each. `wait` is for tests. */
export async function takeSteps(
  steps: readonly Step[],
  change: OffsetsChange,
  send: Send,
  report: (report: ChangeReport) => void,
  wait: (ms: number) => Promise<void> = pause,
): Promise<ChangeReport> {
  const done: Step[] = [];
  for (const step of steps) {
    report({ done: [...done], at: step, problem: undefined });
    try {
      await take(step, change, send, wait);
    } catch (error) {
      const failed = { done, at: step, problem: (error as Error).message };
      report(failed);
      return failed;
    }
    done.push(step);
  }
  const whole = { done, at: undefined, problem: undefined };
  report(whole);
  return whole;
}

async function take(step: Step, change: OffsetsChange, send: Send, wait: (ms: number) => Promise<void>): Promise<void> {
  if (step !== 'set') {
    await send('PUT', `/${step}`);
    return;
  }
  for (let tries = 1; ; tries++) {
    try {
      if (change === 'all') await send('DELETE', '/offsets');
      else await send('PATCH', '/offsets', exactText({ offsets: change }));
      return;
    } catch (error) {
      if (tries === MAX_TRIES || !MAY_PASS.test((error as Error).message)) throw error;
      await wait(AGAIN_MS);
    }
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
