import type { Generation } from '../../kafka/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import type { MemberAssignment, Work } from './group-bytes.ts';
import type { WorkSet } from './work-set.ts';

/** One rebalance as operators see it: one line in the log. */
export class RoundReport {
  readonly reason: string;
  readonly #beganAtMs = Date.now();

  constructor(reason: string) {
    this.reason = reason;
  }

  log(logger: Logger, generation: Generation, assignment: MemberAssignment, owned: WorkSet): void {
    const { generationId, isLeader, protocol } = generation;
    const { leaderUrl, assigned, revoked, delayMs, configOffset } = assignment;
    const role = isLeader ? 'this worker leads' : `${leaderUrl} leads`;
    const share = `${count(owned.connectors.size, 'connector')} and ${count(owned.tasks.size, 'task')}`;
    const change = `+${String(size(assigned))} -${String(size(revoked))}`;
    const wait = delayMs > 0 ? `; again in ${String(delayMs)} ms` : '';
    const fields = {
      generation: generationId,
      protocol,
      leader: leaderUrl,
      assigned: texts(assigned),
      revoked: texts(revoked),
      configOffset,
      delayMs,
      durationMs: Date.now() - this.#beganAtMs,
      reason: this.reason,
    };
    logger.info(
      fields,
      `Rebalance: generation ${String(generationId)}, ${role}, ${share} here (${change}), because ${this.reason}${wait}`,
    );
  }
}

function size({ connectors, tasks }: Work): number {
  return connectors.length + tasks.length;
}

function texts({ connectors, tasks }: Work): string[] {
  return [...connectors, ...tasks.map(({ connector, task }) => `${connector}-${String(task)}`)];
}

function count(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}
