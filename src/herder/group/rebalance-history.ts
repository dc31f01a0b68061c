import { taskText } from '../../connect/task-assignment.ts';
import type { Generation } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import { DEFAULT_WINDOW, SampledStat, type MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { ClusterView, GroupWorker, PastRebalance, RebalanceView } from './placement.ts';
import { protocolVersion, workNames, type MemberAssignment, type Work } from './group-bytes.ts';
import type { WorkSet } from './work-set.ts';

/** Number of rebalances to remember, and number of names to remember for each list of a rebalance. */
const MAX_REMEMBERED = 50;
const MAX_NAMES = 20;

/** Logs each rebalance of this worker, and keeps statistics and the most recent rebalances. */
export class RebalanceHistory {
  readonly #logger: Logger;
  readonly #timesMs: SampledStat;
  #reason = 'this worker started';
  #beganAtMs = Date.now();
  #completed = 0;
  #last: RebalanceView | undefined;
  /** The members after the last rebalance, if this worker led it. */
  #workers: readonly string[] = [];
  readonly #past: PastRebalance[] = [];

  constructor(logger: Logger, window: MetricWindow = DEFAULT_WINDOW) {
    this.#logger = logger;
    this.#timesMs = new SampledStat(window);
  }

  view(): Pick<
    ClusterView,
    'completedRebalances' | 'rebalanceAverageMs' | 'rebalanceMaxMs' | 'lastRebalance' | 'rebalances'
  > {
    const now = performance.now();
    return {
      completedRebalances: this.#completed,
      rebalanceAverageMs: this.#timesMs.average(now),
      rebalanceMaxMs: this.#timesMs.max(now),
      lastRebalance: this.#last,
      rebalances: [...this.#past],
    };
  }

  begin(reason: string): void {
    this.#reason = reason;
    this.#beganAtMs = Date.now();
    this.#logger.debug({ reason }, 'A rebalance began');
  }

  /** `workers`: the members, which only the leader knows. */
  complete(
    { generationId, isLeader, protocol }: Generation,
    assignment: MemberAssignment,
    owned: WorkSet,
    workers: readonly Pick<GroupWorker, 'workerId'>[] = [],
  ): void {
    const { leaderUrl, assigned, revoked, delayMs, configOffset } = assignment;
    const durationMs = Date.now() - this.#beganAtMs;
    this.#completed += 1;
    this.#timesMs.record(durationMs, performance.now());
    const summary = {
      reason: this.#reason,
      durationMs,
      assigned: workNames(assigned),
      revoked: workNames(revoked),
      delayMs,
      ...this.#moves(isLeader ? workers.map(({ workerId }) => workerId) : []),
    };
    this.#remember({ ...summary, generation: generationId, led: isLeader, completedAtMs: Date.now() });
    const role = isLeader ? 'this worker leads' : `${leaderUrl} leads`;
    const share = `${count(owned.connectors.size, 'connector')} and ${count(owned.tasks.size, 'task')}`;
    const change = `+${String(summary.assigned.length)} -${String(summary.revoked.length)}`;
    const again = delayMs > 0 ? `; again in ${String(delayMs)} ms` : '';
    this.#logger.info(
      { ...summary, generation: generationId, leader: leaderUrl, protocol, configOffset },
      `Rebalance: generation ${String(generationId)}, ${role}, ${share} here (${change}), because ${this.#reason}${again}`,
    );
  }

  /**
   * Returns the workers that joined and left. Returns an empty object unless this worker led the previous rebalance
   * too.
   */
  #moves(workers: readonly string[]): Pick<RebalanceView, 'joined' | 'left'> {
    const previous = this.#workers;
    this.#workers = workers;
    if (previous.length === 0 || workers.length === 0) return {};
    const joined = workers.filter((worker) => !previous.includes(worker));
    return { joined, left: previous.filter((worker) => !workers.includes(worker)) };
  }

  #remember(rebalance: RebalanceView): void {
    this.#last = rebalance;
    const { assigned, revoked } = rebalance;
    const names = { assigned: assigned.slice(0, MAX_NAMES), revoked: revoked.slice(0, MAX_NAMES) };
    this.#past.push({ ...rebalance, ...names, assignedCount: assigned.length, revokedCount: revoked.length });
    if (this.#past.length > MAX_REMEMBERED) this.#past.shift();
  }
}

/**
 * Returns Java's log line for an assignment, which some scripts wait for
 * (org.apache.kafka.connect.runtime.distributed.DistributedHerder).
 */
export function joinedLine({ generationId, protocol }: Generation, assignment: MemberAssignment): string {
  const { error, leader, leaderUrl, configOffset, assigned, revoked, delayMs } = assignment;
  const fields = [
    `error=${error === 'none' ? '0' : '1'}`,
    `leader='${leader}'`,
    `leaderUrl='${leaderUrl}'`,
    `offset=${String(configOffset)}`,
    ...workFields(assigned, 'connectorIds', 'taskIds'),
    ...workFields(revoked, 'revokedConnectorIds', 'revokedTaskIds'),
    `delay=${String(delayMs)}`,
  ];
  return `Joined group at generation ${String(generationId)} with protocol version ${String(protocolVersion(protocol))} and got assignment: Assignment{${fields.join(', ')}} with rebalance delay: ${String(delayMs)}`;
}

function workFields({ connectors, tasks }: Work, connectorField: string, taskField: string): string[] {
  return [`${connectorField}=[${connectors.join(', ')}]`, `${taskField}=[${tasks.map(taskText).join(', ')}]`];
}

function count(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}
