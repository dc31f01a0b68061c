import type { DeadLetter } from './dead-letter.ts';
import { LetterGroupIds } from './letter-group.ts';

/** Offsets of one partition of the dead-letter topic. */
export interface LetterRange {
  readonly partition: number;
  /** The first offset; the beginning of the partition if absent. */
  readonly from?: number | undefined;
  /** The last offset; what is there now if absent. */
  readonly to?: number | undefined;
}

/** Which letters of a connector; what is absent does not restrict. */
export interface LetterSelection {
  /** The id of a group, as `GET /connectors/{c}/dead-letters` has it. */
  readonly group?: string | undefined;
  /** Only these partitions and offsets. */
  readonly offsets?: readonly LetterRange[] | undefined;
  /** Timestamps of the letters, in milliseconds since the epoch: `from` ≤ timestamp < `to`. */
  readonly time?: { readonly from?: number | undefined; readonly to?: number | undefined } | undefined;
  readonly filter?: LetterFilter | undefined;
}

/** Each member must be equal. */
export interface LetterFilter {
  readonly stage?: string | undefined;
  readonly class?: string | undefined;
  readonly sqlstate?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  /** The topic that the record came from. */
  readonly topic?: string | undefined;
  /** A part of the message. */
  readonly message?: string | undefined;
}

/** Tells which letters of a topic are a connector's and of a selection. Letters without context headers count as the connector's. */
export class LetterPick {
  readonly #connector: string;
  readonly #selection: LetterSelection;
  readonly #ids = new LetterGroupIds();

  constructor(connector: string, selection: LetterSelection) {
    this.#connector = connector;
    this.#selection = selection;
  }

  has(letter: DeadLetter): boolean {
    if (letter.connector !== undefined && letter.connector !== this.#connector) return false;
    return isSelected(letter, this.#selection, this.#ids);
  }
}

function isSelected(letter: DeadLetter, selection: LetterSelection, ids: LetterGroupIds): boolean {
  const { group, offsets, time, filter } = selection;
  if (offsets !== undefined && !offsets.some((range) => isInRange(letter, range))) return false;
  if (time?.from !== undefined && letter.timestamp < time.from) return false;
  if (time?.to !== undefined && letter.timestamp >= time.to) return false;
  if (filter !== undefined && !passes(letter, filter)) return false;
  return group === undefined || ids.of(letter) === group;
}

function isInRange({ partition, offset }: DeadLetter, range: LetterRange): boolean {
  return partition === range.partition && offset >= (range.from ?? 0) && offset <= (range.to ?? Infinity);
}

function passes(letter: DeadLetter, filter: LetterFilter): boolean {
  const pairs = [
    [filter.stage, letter.stage ?? 'UNKNOWN'],
    [filter.class, letter.exception],
    [filter.sqlstate, letter.sqlstate],
    [filter.table, letter.table],
    [filter.column, letter.column],
    [filter.topic, letter.origin?.topic],
  ];
  const { message } = filter;
  return (
    pairs.every(([wanted, has]) => wanted === undefined || wanted === has) &&
    (message === undefined || letter.message?.includes(message) === true)
  );
}
