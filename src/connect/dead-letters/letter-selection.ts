import { LetterHeader, type DeadLetter, type LetterContext } from './dead-letter.ts';
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

type LetterPosition = Pick<DeadLetter, 'partition' | 'offset' | 'timestamp'>;

/** Tells which letters of a topic are a connector's and of a selection. Letters without context headers count as the connector's. */
export class LetterPick {
  readonly #connector: string;
  readonly #selection: LetterSelection;
  readonly #ids = new LetterGroupIds();

  constructor(connector: string, selection: LetterSelection) {
    this.#connector = connector;
    this.#selection = selection;
  }

  has(letter: LetterContext & LetterPosition): boolean {
    return this.hasPosition(letter) && this.hasContext(letter);
  }

  /** Whether the selection has letters of this offset and this time. */
  hasPosition(letter: LetterPosition): boolean {
    const { offsets, time } = this.#selection;
    if (offsets !== undefined && !offsets.some((range) => isInRange(letter, range))) return false;
    if (time?.from !== undefined && letter.timestamp < time.from) return false;
    return time?.to === undefined || letter.timestamp < time.to;
  }

  /** Whether the value of a header could change what `hasContext` says of a letter like this one; numbers of offsets aside. */
  mattersFor({ sqlstate, table }: Pick<LetterContext, 'sqlstate' | 'table'>): (key: string) => boolean {
    const { group, filter } = this.#selection;
    const isGrouped = group !== undefined && !(sqlstate !== undefined && table !== undefined);
    return (key) => {
      if (key === LetterHeader.message) return isGrouped || filter?.message !== undefined;
      const isOrigin = key === LetterHeader.topic || key === LetterHeader.partition;
      return isOrigin ? filter?.topic !== undefined : CONTEXT.has(key);
    };
  }

  /** Whether it is the connector's, and the selection has letters that failed like this one. */
  hasContext(letter: LetterContext): boolean {
    const { connector } = letter;
    if (connector !== undefined && connector !== this.#connector) return false;
    const { group, filter } = this.#selection;
    if (filter !== undefined && !passes(letter, filter)) return false;
    return group === undefined || this.#ids.of(letter) === group;
  }
}

/** Headers whose values `hasContext` asks for, besides the message. */
const CONTEXT = new Set<string>(
  (['connector', 'stage', 'exception', 'sqlstate', 'table', 'column'] as const).map((name) => LetterHeader[name]),
);

function isInRange({ partition, offset }: LetterPosition, range: LetterRange): boolean {
  return partition === range.partition && offset >= (range.from ?? 0) && offset <= (range.to ?? Infinity);
}

function passes(letter: LetterContext, filter: LetterFilter): boolean {
  const { message } = filter;
  return (
    isWanted(filter.stage, () => letter.stage ?? 'UNKNOWN') &&
    isWanted(filter.class, () => letter.exception) &&
    isWanted(filter.sqlstate, () => letter.sqlstate) &&
    isWanted(filter.table, () => letter.table) &&
    isWanted(filter.column, () => letter.column) &&
    isWanted(filter.topic, () => letter.origin?.topic) &&
    (message === undefined || letter.message?.includes(message) === true)
  );
}

function isWanted(wanted: string | undefined, has: () => string | undefined): boolean {
  return wanted === undefined || wanted === has();
}
