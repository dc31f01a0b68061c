import type { Logger } from '../../observe/logger.ts';
import { createLibraryLogger, type LibraryLogEntry, type LibraryLogger } from './kafkajs-internals.ts';

/**
 * kafkajs logs every refused connection and every REBALANCE_IN_PROGRESS as an error, per attempt. What an operator has to
 * know is logged once by this room (see cluster.ts); the library's own lines go to trace, without the message bodies,
 * which may hold credentials.
 */
export function libraryLogger(logger: Logger): LibraryLogger {
  return createLibraryLogger(() => (entry: LibraryLogEntry) => {
    if (!logger.isLevelEnabled('trace')) return;
    const { message, error, broker, correlationId, size } = entry.log;
    logger.trace({ library: entry.namespace, broker, correlationId, size, error }, message);
  });
}
