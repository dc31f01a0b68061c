import { useState } from 'preact/hooks';

/** The state of an action that the user starts. */
export interface Action {
  readonly isBusy: boolean;
  /** The error of the last run; empty if it did not fail. */
  readonly problem: string;
  readonly report: (problem: string) => void;
  /** Resolves when the work has ended, whether it failed or not. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [problem, report] = useState('');
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    report('');
    try {
      await work();
    } catch (error) {
      report((error as Error).message);
    }
    setBusy(false);
  };
  return { isBusy, problem, report, run };
}
