import type { WorkerDetail } from '../common/answers.ts';
import { texts } from '../texts/cluster.ts';

const MAX_NAMES = 8;

/** The effect of a rebalance on its worker, as a sentence. */
export function rebalanceText(rebalance: WorkerDetail['rebalances'][number]): string {
  const { assigned, assignedCount, revoked, revokedCount, durationMs, delayMs, generation, led } = rebalance;
  const moved = [
    ...(assignedCount > 0 ? [texts.gained(assignedCount, named(assigned, assignedCount))] : []),
    ...(revokedCount > 0 ? [texts.lost(revokedCount, named(revoked, revokedCount))] : []),
  ];
  return [
    moved.length === 0 ? texts.nothingMoved : moved.join('; '),
    texts.took(durationMs),
    texts.generation(generation) + (led ? `, ${texts.led}` : ''),
    ...(delayMs > 0 ? [texts.again(delayMs)] : []),
  ].join(' · ');
}

function named(names: readonly string[], count: number): string {
  const shown = names.slice(0, MAX_NAMES);
  const rest = count - shown.length;
  return rest > 0 ? `${shown.join(', ')} ${texts.moreTasks(rest)}` : shown.join(', ');
}
