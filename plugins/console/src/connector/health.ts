import type { Health, TaskFigures } from '../common/answers.ts';
import type { Verdict } from '../common/verdict.ts';

/** One request may have gone wrong. */
const SILENT_MS = 1000;

/** The worker of the task does not answer: what is known of it may no longer be so. */
export function isSilent({ silentMs = 0 }: Pick<TaskFigures, 'silentMs'>): boolean {
  return silentMs >= SILENT_MS;
}

/** The verdict, as the list of all connectors shows it. */
export function shownVerdict({ verdict, tasks }: Pick<Health, 'verdict' | 'tasks'>): Verdict {
  return verdict === 'RUNNING' && tasks.some(isSilent) ? 'SILENT' : verdict;
}

/** What each part of the view is given. */
export interface PartProps {
  readonly name: string;
  readonly health: Health;
}
