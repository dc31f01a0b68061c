import { createHash } from 'node:crypto';

const HASH_DIGITS = 12;

/**
 * Names the workers of which one at most has a task at a time: all of a Connect cluster, so that whichever gets the work of one that
 * died finds its members, or a standalone worker at its place. It is the same after a restart, and differs between clusters
 * and workers that share a Kafka cluster, a host, or names of connectors. `workers`: the texts that tell them from others.
 */
export function taskOwner(clusterId: string, workers: readonly string[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([clusterId, ...workers]))
    .digest('hex');
  return `sluice-${hash.slice(0, HASH_DIGITS)}`;
}
