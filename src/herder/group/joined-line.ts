import { taskText } from '../../connect/task-assignment.ts';
import type { Generation } from '../../kafka/group/group-membership.ts';
import { protocolVersion, type MemberAssignment, type Work } from './group-bytes.ts';

/** Java's log line for an assignment, for which scripts wait (org.apache.kafka.connect.runtime.distributed.DistributedHerder). */
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
