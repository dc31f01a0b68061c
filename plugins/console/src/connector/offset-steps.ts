import { exactText } from '../common/exact-json.ts';
import type { OffsetEntry } from './offset-rows.ts';

export type Step = 'stop' | 'set' | 'resume' | 'pause';

/** The progress of a change of offsets. */
export interface ChangeReport {
  /** The completed steps, in order. */
  readonly done: readonly Step[];
  /** The current step, or the failed step if `problem` is set; `undefined` when all steps are completed. */
  readonly at: Step | undefined;
  readonly problem: string | undefined;
}

/** The offsets to set; `'all'` removes all offsets. */
export type OffsetsChange = readonly OffsetEntry[] | 'all';

/** Sends a request about the connector. `path` is relative to the connector's path in the API. */
export type Send = (method: string, path: string, json?: string) => Promise<unknown>;

const AGAIN_MS = 1000;
const MAX_TRIES = 45;
/** Matches temporary errors: tasks are still stopping, or a rebalance is in progress. */
const MAY_PASS = /stopped completely|rebalance/;

/** The steps that set offsets. The connector must be stopped meanwhile; its previous state is restored afterwards. */
export function stepsFrom(state: string): readonly Step[] {
  if (state === 'STOPPED') return ['set'];
  return ['stop', 'set', state === 'PAUSED' ? 'pause' : 'resume'];
}

/** Runs the steps one after another until one fails, and reports the progress before each step. `wait` can be replaced in tests. */
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
