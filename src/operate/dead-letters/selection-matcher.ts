import type {
  DeadLetterFilter,
  DeadLetterRange,
  DeadLetterSelection,
} from '../../connect/dead-letters/dead-letter-selection.ts';
import type { DeadLetterRecord } from './dead-letter-record.ts';
import { deadLetterGroupId, deadLetterGroupKey } from './dead-letter-group.ts';

/**
 * Tests whether a dead-letter record belongs to a connector and to a selection. Records without context headers count
 * as records of the connector.
 */
export class SelectionMatcher {
  readonly #connector: string;
  readonly #selection: DeadLetterSelection;

  constructor(connector: string, selection: DeadLetterSelection) {
    this.#connector = connector;
    this.#selection = selection;
  }

  has(deadLetter: DeadLetterRecord): boolean {
    const { connector, timestamp } = deadLetter;
    if (connector !== undefined && connector !== this.#connector) return false;
    const { group, offsets, time, filter } = this.#selection;
    if (offsets !== undefined && !offsets.some((range) => isInRange(deadLetter, range))) return false;
    if (time?.from !== undefined && timestamp < time.from) return false;
    if (time?.to !== undefined && timestamp >= time.to) return false;
    if (filter !== undefined && !passes(deadLetter, filter)) return false;
    return group === undefined || deadLetterGroupId(deadLetterGroupKey(deadLetter)) === group;
  }
}

function isInRange({ partition, offset }: DeadLetterRecord, range: DeadLetterRange): boolean {
  return partition === range.partition && offset >= (range.from ?? 0) && offset <= (range.to ?? Infinity);
}

function passes(
  deadLetter: DeadLetterRecord,
  { stage, class: exception, sqlstate, table, column, topic, message }: DeadLetterFilter,
) {
  const isWanted = (wanted: string | undefined, value: string | undefined) => wanted === undefined || wanted === value;
  return (
    isWanted(stage, deadLetter.stage ?? 'UNKNOWN') &&
    isWanted(exception, deadLetter.exception) &&
    isWanted(sqlstate, deadLetter.sqlstate) &&
    isWanted(table, deadLetter.table) &&
    isWanted(column, deadLetter.column) &&
    isWanted(topic, deadLetter.origin?.topic) &&
    (message === undefined || deadLetter.message?.includes(message) === true)
  );
}
