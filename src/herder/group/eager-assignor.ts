import type { TaskId } from '../../connect/tasks/task-assignment.ts';
import type { Work } from './group-bytes.ts';

/**
 * Divides all work anew at each rebalance: one after the other to the members in order, connectors first
 * (org.apache.kafka.connect.runtime.distributed.EagerAssignor). For groups in which an old member demands it.
 */
export function assignEagerly(configured: Work, members: readonly string[]): ReadonlyMap<string, Work> {
  const shares = [...members].sort().map((member) => ({ member, connectors: [] as string[], tasks: [] as TaskId[] }));
  let turn = 0;
  const next = () => shares[turn++ % shares.length];
  for (const connector of [...configured.connectors].sort()) next()?.connectors.push(connector);
  const tasks = [...configured.tasks].sort((a, b) =>
    a.connector === b.connector ? a.task - b.task : a.connector < b.connector ? -1 : 1,
  );
  for (const task of tasks) next()?.tasks.push(task);
  return new Map(shares.map(({ member, connectors, tasks: own }) => [member, { connectors, tasks: own }]));
}
