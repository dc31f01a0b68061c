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
}

/** The answer of `GET /connectors/{connector}/health`. */
export interface Health {
  readonly name: string;
  readonly type: string;
  readonly verdict: Verdict;
  readonly sentence: string;
  readonly reasons: readonly string[];
  readonly since: string;
  readonly tasks: readonly TaskFigures[];
  readonly silentWorkers: readonly string[];
}

/** What each part of the view is given. */
export interface PartProps {
  readonly name: string;
  readonly health: Health;
}
