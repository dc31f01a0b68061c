import { toError } from '../../errors.ts';
import { within } from '../../async/within.ts';
import type { Logger } from '../../observe/logger.ts';

/** Resolves with whether the config topic was read to its end within `timeoutMs`. A failure is logged. */
export async function readToEnd(
  configured: { readonly offset: number; refresh(): Promise<void> },
  timeoutMs: number,
  logger: Logger,
): Promise<boolean> {
  try {
    const isRead = await within(configured.refresh(), timeoutMs);
    if (isRead) logger.debug({ configOffset: configured.offset }, 'Read the config topic to its end');
    return isRead;
  } catch (error) {
    logger.warn({ reason: toError(error).message }, 'The config topic cannot be read');
    return false;
  }
}
