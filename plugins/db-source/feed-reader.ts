import type { SourceCoordinates } from '../../src/index.ts';
import type { QueryResult, RowBlock, Table } from '../database/index.ts';
import type { PieceSize } from './held-read.ts';
import type { Stretch } from './rows-behind.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

export type Row = QueryResult['rows'][number];

/** Rows of a block from one on. */
export interface RowRange {
  readonly block: RowBlock;
  readonly from: number;
}

/** Rows of one fetch. */
export interface Page {
  /** They come before those of `range`. */
  readonly rows: readonly Row[];
  readonly range?: RowRange | undefined;
  /** What to store as the offset while not all rows are acknowledged, and when they are. */
  readonly offsetBefore: SourceCoordinates;
  readonly offsetAfter: SourceCoordinates;
  /** They were committed behind the position; `count` of them were found, `rows` are those to send. */
  readonly lateRows: number;
  /** There is nothing more for now. */
  readonly isLast: boolean;
}

export function rowCount({ rows, range }: Page): number {
  return rows.length + (range === undefined ? 0 : range.block.count - range.from);
}

/** What a reader is asked with. */
export interface ReadRequest {
  readonly size: PieceSize;
  readonly signal: AbortSignal;
  readonly snapshot: DatabaseSnapshot;
  /** Whether a cursor may stay open after this page. */
  readonly mayHold: () => boolean;
}

/** What is to be done for a table that was read up to now before. */
export type NextStep =
  | { readonly kind: 'read' }
  /** Read when this SQL condition holds. */
  | { readonly kind: 'check'; readonly condition: string }
  | { readonly kind: 'wait' };

/** Reads one table forward; knows nothing of records and topics. One page is read at a time. */
export interface FeedReader {
  read(request: ReadRequest): Promise<Page>;
  nextStep(snapshot: DatabaseSnapshot): NextStep;
  /** Whether a cursor is open. */
  readonly isHolding: boolean;
  /** Whether it should be asked only when a cursor may stay open. */
  readonly needsCursor: boolean;
  /** Closes the cursor, if any; reading goes on from the position. */
  release(): void;
  /** The column whose times the database should tell when rows are inserted; `undefined`: none need be told. */
  readonly toldColumn?: string | undefined;
  /** The database tells that rows were inserted; those of them behind the position are read once. */
  tell?(stretch: Stretch): void;
  /** There are such rows that are still to be read. */
  readonly isBehind?: boolean;
}

/** The table has other columns now than it was known with. */
export class TableChangedError extends Error {}

/** Types made by users begin here; of a domain the server names the type below it in results. */
const FIRST_USER_OID = 16_384;

/** Throws a TableChangedError when the first fields of a result are not the columns of the table. */
export function checkColumns({ columns }: Table, fields: QueryResult['fields'], extraFields: number): void {
  const isSame =
    fields.length === columns.length + extraFields &&
    columns.every(({ name, typeOid }, index) => {
      const field = fields[index];
      return field?.name === name && (field.typeOid === typeOid || typeOid >= FIRST_USER_OID);
    });
  if (!isSame) throw new TableChangedError('the columns of the table have changed');
}
