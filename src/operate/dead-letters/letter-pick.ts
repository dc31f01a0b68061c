import type { LetterFilter, LetterRange, LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import type { DeadLetter } from './dead-letter.ts';
import { letterGroupId, letterGroupKey } from './letter-group.ts';

/**
 * Tests whether a dead-letter record is a connector's and in a selection. Records without context headers count as the
 * connector's.
 */
export class LetterPick {
  readonly #connector: string;
  readonly #selection: LetterSelection;

  constructor(connector: string, selection: LetterSelection) {
    this.#connector = connector;
    this.#selection = selection;
  }

  has(letter: DeadLetter): boolean {
    const { connector, timestamp } = letter;
    if (connector !== undefined && connector !== this.#connector) return false;
    const { group, offsets, time, filter } = this.#selection;
    if (offsets !== undefined && !offsets.some((range) => isInRange(letter, range))) return false;
    if (time?.from !== undefined && timestamp < time.from) return false;
    if (time?.to !== undefined && timestamp >= time.to) return false;
    if (filter !== undefined && !passes(letter, filter)) return false;
    return group === undefined || letterGroupId(letterGroupKey(letter)) === group;
  }
}

function isInRange({ partition, offset }: DeadLetter, range: LetterRange): boolean {
  return partition === range.partition && offset >= (range.from ?? 0) && offset <= (range.to ?? Infinity);
}

function passes(
  letter: DeadLetter,
  { stage, class: exception, sqlstate, table, column, topic, message }: LetterFilter,
) {
  const isWanted = (wanted: string | undefined, value: string | undefined) => wanted === undefined || wanted === value;
  return (
    isWanted(stage, letter.stage ?? 'UNKNOWN') &&
    isWanted(exception, letter.exception) &&
    isWanted(sqlstate, letter.sqlstate) &&
    isWanted(table, letter.table) &&
    isWanted(column, letter.column) &&
    isWanted(topic, letter.origin?.topic) &&
    (message === undefined || letter.message?.includes(message) === true)
  );
}
