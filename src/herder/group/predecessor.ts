import { toError } from '../../errors.ts';
import type { KafkaGroup } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import { decodeMetadata } from './group-bytes.ts';

/**
 * A worker that was killed and started again finds its former self in the group, which would keep everybody waiting until
 * its session is over. Nobody else can be at this address. Never rejects.
 */
export async function removePredecessor(group: KafkaGroup, url: string, logger: Logger): Promise<void> {
  try {
    const removed = await group.remove(({ metadata }) => metadata.length > 0 && decodeMetadata(metadata).url === url);
    for (const memberId of removed) logger.info({ memberId }, 'Removed what an earlier worker at this address left');
  } catch (error) {
    logger.debug({ reason: toError(error).message }, 'Whether an earlier worker is still in the group is not known');
  }
}
