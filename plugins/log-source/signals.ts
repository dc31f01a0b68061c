import { javaRegexMatcher, toError, type Logger } from '../../src/index.ts';
import { UNCHANGED, type LogRow } from './pgoutput.ts';
import { tableText, type TableNaming } from './table-naming.ts';

/** A request for a snapshot. Users send it by inserting a row (`id`, `type`, `data`) into the signal table, as in Debezium. */
export interface SnapshotSignal {
  readonly includes: (table: TableNaming) => boolean;
}

const MAX_COLLECTIONS = 10_000;

/**
 * Parses a signal `execute-snapshot` of type `blocking`. Other signals are logged and have no effect.
 * @param row a row of the signal table; only the first three values are read
 */
export function readSignal(row: LogRow, logger: Logger): SnapshotSignal | undefined {
  const [id, type, data] = row.map((value) => (value === UNCHANGED ? null : value));
  try {
    const { type: kind, 'data-collections': collections } = JSON.parse(data ?? '{}') as Readonly<
      Record<string, unknown>
    >;
    const isBlocking = typeof kind === 'string' && kind.toLowerCase() === 'blocking';
    if (type !== 'execute-snapshot' || !isBlocking) {
      logger.warn(`Signal ${id ?? ''} has no effect: only execute-snapshot of type blocking is supported`);
      return undefined;
    }
    if (!Array.isArray(collections) || collections.length > MAX_COLLECTIONS)
      throw new Error('data-collections is not a list of at most 10,000 entries');
    const matchers = collections.map((pattern) => javaRegexMatcher(`(?i)${String(pattern)}`));
    return { includes: (table) => matchers.some((matches) => matches(tableText(table))) };
  } catch (error) {
    logger.warn(`Signal ${id ?? ''} has no effect: ${toError(error).message}`);
    return undefined;
  }
}
