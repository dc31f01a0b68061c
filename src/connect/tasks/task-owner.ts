import { createHash } from 'node:crypto';

const HASH_DIGITS = 12;

/**
 * Identifies the workers of which at most one runs a task at a time: all workers of a Connect cluster, so that the next worker of a
 * task recognizes the group members of a dead worker; or a standalone worker with its offset file. The name is the same after a restart
 * and differs between Connect clusters and standalone workers, even if they share a Kafka cluster, a host, or connector names.
 * `workers`: texts that distinguish these workers from others.
 */
export function taskOwner(clusterId: string, workers: readonly string[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([clusterId, ...workers]))
    .digest('hex');
  return `sluice-${hash.slice(0, HASH_DIGITS)}`;
}
