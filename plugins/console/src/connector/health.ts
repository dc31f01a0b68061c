import type { Health, TaskFigures } from '../common/answers.ts';
import type { Verdict } from '../common/verdict.ts';

/** A single failed request does not make a worker silent. */
const SILENT_MS = 1000;

/** The worker of the task does not answer, so its figures may be outdated. */
export function isSilent({ silentMs = 0 }: Pick<TaskFigures, 'silentMs'>): boolean {
  return silentMs >= SILENT_MS;
}

/** The verdict, as the list of all connectors shows it. */
export function shownVerdict({ verdict, tasks }: Pick<Health, 'verdict' | 'tasks'>): Verdict {
  return verdict === 'RUNNING' && tasks.some(isSilent) ? 'SILENT' : verdict;
}

/** The properties of each part of the view. */
export interface PartProps {
  readonly name: string;
  readonly health: Health;
}
