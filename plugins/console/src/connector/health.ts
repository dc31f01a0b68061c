import type { Health, TaskFigures } from '../common/answers.ts';
import type { Verdict } from '../common/verdict.ts';

/** A worker counts as silent after this many milliseconds, so that a single failed request is not enough. */
const SILENT_MS = 1000;

/** True if the task's worker does not answer, so that the figures of the task may be outdated. */
export function isSilent({ silentMs = 0 }: Pick<TaskFigures, 'silentMs'>): boolean {
  return silentMs >= SILENT_MS;
}

/** The verdict that the list of all connectors shows. */
export function shownVerdict({ verdict, tasks }: Pick<Health, 'verdict' | 'tasks'>): Verdict {
  return verdict === 'RUNNING' && tasks.some(isSilent) ? 'SILENT' : verdict;
}

/** The properties of each tab of the connector view. */
export interface PartProps {
  readonly name: string;
  readonly health: Health;
}
