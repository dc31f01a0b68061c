import type { SourceCoordinates } from '../../src/index.ts';
import type { QueryResult, RowBlock, Table } from '../database/index.ts';
import type { ChunkSize } from './open-cursor.ts';
import type { TimeRange } from './notified-ranges.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

export type Row = QueryResult['rows'][number];

/** The rows of a block, starting at the index `from`. */
export interface RowRange {
  readonly block: RowBlock;
  readonly from: number;
}

/** The rows of a fetch. */
export interface Page {
  /** Rows that precede those of `range`, such as late rows. */
  readonly rows: readonly Row[];
  readonly range?: RowRange | undefined;
  /** The offset that is stored until all rows of the page are acknowledged. */
  readonly offsetBefore: SourceCoordinates;
  /** The offset that is stored once all rows of the page are acknowledged. */
  readonly offsetAfter: SourceCoordinates;
  /** Number of late rows, which were committed after rows with later times had been read. If they are sent, they are in `rows`. */
  readonly lateRows: number;
  /** True if there are no more rows for now. */
  readonly isLast: boolean;
}

export function rowCount({ rows, range }: Page): number {
  return rows.length + (range === undefined ? 0 : range.block.count - range.from);
}

export interface ReadRequest {
  readonly size: ChunkSize;
  readonly signal: AbortSignal;
  readonly snapshot: DatabaseSnapshot;
  /** Returns true if a cursor may stay open after this page. */
  readonly mayKeepCursor: () => boolean;
}

/** The next step for a table that was read up to the current time. */
export type NextStep =
  | { readonly kind: 'read' }
  /** The table must be read if this SQL condition is true. */
  | { readonly kind: 'check'; readonly condition: string }
  | { readonly kind: 'wait' };

/** Reads a table forward, one page at a time. It does not deal with records and topics. */
export interface FeedReader {
  read(request: ReadRequest): Promise<Page>;
  nextStep(snapshot: DatabaseSnapshot): NextStep;
  /** True if a cursor is open. */
  readonly hasOpenCursor: boolean;
  /** True if the table may only be read while a cursor can be kept open. */
  readonly needsCursor: boolean;
  /** Closes the cursor, if any. Reading continues from the position, or in bulk mode from the first row. */
  release(): void;
  /** The column whose times notifications of inserted rows must include; `undefined` if no times are needed. */
  readonly notifiedColumn?: string | undefined;
  /** Called when rows were inserted in a time range. The part of the range before the position is read once. */
  addRange?(range: TimeRange): void;
  /** True if ranges of inserted rows have not been read yet. */
  readonly hasUnreadRanges?: boolean;
}

/** The columns of the table differ from the known ones. */
export class TableChangedError extends Error {}

/** First OID of user-defined types. Their OIDs are not compared, because results contain the base type of a domain. */
const FIRST_USER_OID = 16_384;

/**
 * Throws TableChangedError if the fields of a result are not the columns of the table, followed by `extraFields`
 * others.
 */
export function checkColumns({ columns }: Table, fields: QueryResult['fields'], extraFields: number): void {
  const isSame =
    fields.length === columns.length + extraFields &&
    columns.every(({ name, typeOid }, index) => {
      const field = fields[index];
      return field?.name === name && (field.typeOid === typeOid || typeOid >= FIRST_USER_OID);
    });
  if (!isSame) throw new TableChangedError('the columns of the table have changed');
}
