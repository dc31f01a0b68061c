import type { ConnectorStateAnswer } from '../common/answers.ts';
import { texts } from '../texts/connector.ts';

/** States of a connector and its tasks, `ms` milliseconds after an action. */
export interface Sample {
  readonly ms: number;
  readonly status: Pick<ConnectorStateAnswer, 'connector' | 'tasks'>;
}

/** A restart counts as successful if the connector and all tasks are running this many milliseconds after it. */
const RUNS_MS = 3000;
/** A restart counts as failed if the state is still FAILED this many milliseconds after it. */
const UNCHANGED_MS = 2000;

/** The result of a restart as a text; `undefined` if the result is not known yet. */
export function restartOutcome(before: Sample['status'], samples: readonly Sample[]): string | undefined {
  const last = samples.at(-1);
  if (last === undefined) return undefined;
  const failed = samples.find(
    ({ ms, status }, index) =>
      isFailed(status) && (ms >= UNCHANGED_MS || samples.slice(0, index).some((each) => !isFailed(each.status))),
  );
  if (failed !== undefined) {
    const isSame = causeOf(failed.status) === causeOf(before) && causeOf(before) !== '';
    return texts.failedAgain((failed.ms / 1000).toFixed(1), isSame);
  }
  const isRunning =
    last.status.connector.state === 'RUNNING' && last.status.tasks.every(({ state }) => state === 'RUNNING');
  return isRunning && last.ms >= RUNS_MS && last.status.tasks.length > 0 ? texts.runsAgain : undefined;
}

function isFailed({ connector, tasks }: Sample['status']): boolean {
  return connector.state === 'FAILED' || tasks.some(({ state }) => state === 'FAILED');
}

/** The innermost cause in the first stack trace. */
function causeOf({ connector, tasks }: Sample['status']): string {
  const trace = connector.trace ?? tasks.find(({ trace: each }) => each !== undefined)?.trace ?? '';
  return trace.split('\nCaused by: ').at(-1)?.split('\n', 1)[0] ?? '';
}
