import type { WorkerDetail } from '../common/answers.ts';
import { durationText } from '../common/time.ts';
import { texts } from '../texts/cluster.ts';

type Round = WorkerDetail['rebalances'][number];

/** Rebalances that follow each other closely, which usually have one cause, such as the loss of a worker. */
interface RebalanceEvent {
  /** End of the first rebalance, in milliseconds since the epoch. */
  readonly at: number;
  /** Cause, number of moved connectors and tasks, and duration: `12702 left, 8 moved, 12 s`. */
  readonly text: string;
  /** The rebalances of the selected worker, the oldest first. */
  readonly rounds: readonly Round[];
}

/**
 * After a rebalance and its delay have ended, another rebalance that begins within this time belongs to the same event.
 */
const SAME_EVENT_MS = 5000;

/**
 * Groups the rebalances of the worker `shown` into events, the newest first. The texts of the events sum up the same
 * rebalances on all workers.
 */
export function rebalanceEvents(all: readonly WorkerDetail[], shown: WorkerDetail): readonly RebalanceEvent[] {
  const groups: Round[][] = [];
  for (const round of [...shown.rebalances].sort((a, b) => a.at - b.at)) {
    const last = groups.at(-1)?.at(-1);
    const isSame = last !== undefined && round.at - round.durationMs <= last.at + last.delayMs + SAME_EVENT_MS;
    if (isSame) groups.at(-1)?.push(round);
    else groups.push([round]);
  }
  return groups.map((rounds) => ({ at: rounds[0]?.at ?? 0, text: eventText(all, rounds), rounds })).reverse();
}

function eventText(all: readonly WorkerDetail[], rounds: readonly Round[]): string {
  const [first] = rounds;
  const last = rounds.at(-1);
  if (first === undefined || last === undefined) return '';
  const generations = new Set(rounds.map(({ generation }) => generation));
  const everywhere = all.flatMap(({ rebalances }) => rebalances.filter((each) => generations.has(each.generation)));
  const joined = distinct(everywhere.flatMap((each) => each.joined ?? []));
  const left = distinct(everywhere.flatMap((each) => each.left ?? []));
  const moved = everywhere.reduce((sum, { assignedCount }) => sum + assignedCount, 0);
  const who = [
    ...(joined.length === 0 ? [] : [texts.workersJoined(joined)]),
    ...(left.length === 0 ? [] : [texts.workersLeft(left)]),
  ];
  const cause = who.length === 0 ? texts.reasonText(first.reason) : who.join(', ');
  return [cause, texts.moved(moved), durationText(last.at - first.at + first.durationMs)].join(', ');
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
