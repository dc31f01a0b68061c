import type { Verdict } from '../common/verdict.ts';

/** A task, as `GET /connectors/{connector}/health` has it. */
export interface TaskFigures {
  readonly task: number;
  readonly state: string;
  readonly worker: string;
  readonly thread: string | number | null;
  readonly partitions: readonly { readonly topic: string; readonly partition: number; readonly lag: number | null }[];
  readonly lag: number | null;
  readonly waiting: number;
  readonly lastDeliveredAt: string | null;
  readonly lastPutMs?: number;
  readonly retries: number;
  /** For so long its worker has not answered; absent: it has. */
  readonly silentMs?: number;
}

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

/** An automatic restart that comes, has begun, or does not come. */
export interface Restart {
  /** `null`: the connector's own instance. */
  readonly task: number | null;
  readonly state: 'WAITING' | 'STARTED' | 'GIVEN_UP';
  readonly attempt: number;
  readonly maxAttempts: number | null;
  readonly nextAttemptAt: string | null;
  readonly givenUpFor: 'policy' | 'kind' | 'attempts' | null;
  readonly kind: string;
  readonly reason: string;
}

/** The answer of `GET /connectors/{connector}/health`. */
export interface Health {
  readonly name: string;
  readonly type: string;
  readonly verdict: Verdict;
  /** One sentence, without the next restart. */
  readonly summary: string;
  readonly reasons: readonly string[];
  readonly since: string;
  readonly tasks: readonly TaskFigures[];
  readonly silentWorkers: readonly string[];
  readonly restarts: readonly Restart[];
}

/** What each part of the view is given. */
export interface PartProps {
  readonly name: string;
  readonly health: Health;
}
