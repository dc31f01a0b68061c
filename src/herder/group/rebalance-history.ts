import { taskText } from '../../connect/tasks/task-assignment.ts';
import type { Generation } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ClusterView, RebalanceView } from '../placement.ts';
import type { MemberAssignment, Work } from './group-bytes.ts';
import type { WorkSet } from './work-set.ts';

/** The rebalances of this worker as operators see them: a line in the log for each, figures of all. */
export class RebalanceHistory {
  readonly #logger: Logger;
  #reason = 'this worker started';
  #beganAtMs = Date.now();
  #completed = 0;
  #totalMs = 0;
  #maxMs = 0;
  #last: RebalanceView | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  view(): Pick<ClusterView, 'completedRebalances' | 'rebalanceAverageMs' | 'rebalanceMaxMs' | 'lastRebalance'> {
    return {
      completedRebalances: this.#completed,
      rebalanceAverageMs: this.#completed === 0 ? 0 : this.#totalMs / this.#completed,
      rebalanceMaxMs: this.#maxMs,
      lastRebalance: this.#last,
    };
  }

  begin(reason: string): void {
    this.#reason = reason;
    this.#beganAtMs = Date.now();
  }

  complete({ generationId, isLeader, protocol }: Generation, assignment: MemberAssignment, owned: WorkSet): void {
    const { leaderUrl, assigned, revoked, delayMs, configOffset } = assignment;
    const durationMs = Date.now() - this.#beganAtMs;
    this.#completed += 1;
    this.#totalMs += durationMs;
    this.#maxMs = Math.max(this.#maxMs, durationMs);
    const round = { reason: this.#reason, durationMs, assigned: texts(assigned), revoked: texts(revoked), delayMs };
    this.#last = { ...round, completedAtMs: Date.now() };
    const role = isLeader ? 'this worker leads' : `${leaderUrl} leads`;
    const share = `${count(owned.connectors.size, 'connector')} and ${count(owned.tasks.size, 'task')}`;
    const change = `+${String(round.assigned.length)} -${String(round.revoked.length)}`;
    const again = delayMs > 0 ? `; again in ${String(delayMs)} ms` : '';
    this.#logger.info(
      { ...round, generation: generationId, leader: leaderUrl, protocol, configOffset },
      `Rebalance: generation ${String(generationId)}, ${role}, ${share} here (${change}), because ${this.#reason}${again}`,
    );
  }
}

function texts({ connectors, tasks }: Work): string[] {
  return [...connectors, ...tasks.map(taskText)];
}

function count(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}
