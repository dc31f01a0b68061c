/** Determines how the values of a column are read and written. Values of `other` types are read and written as text. */
export type TypeFamily =
  | 'int2'
  | 'int4'
  | 'int8'
  | 'float4'
  | 'float8'
  | 'numeric'
  | 'bool'
  | 'text'
  | 'bytes'
  | 'timestamptz'
  | 'timestamp'
  | 'date'
  | 'json'
  | 'other';

/** PostgreSQL's fixed type OIDs (src/include/catalog/pg_type.dat). */
const FAMILY_BY_OID: ReadonlyMap<number, TypeFamily> = new Map([
  [16, 'bool'],
  [17, 'bytes'],
  [18, 'text'],
  [19, 'text'],
  [20, 'int8'],
  [21, 'int2'],
  [23, 'int4'],
  [25, 'text'],
  [114, 'json'],
  [700, 'float4'],
  [701, 'float8'],
  [1042, 'text'],
  [1043, 'text'],
  [1082, 'date'],
  [1114, 'timestamp'],
  [1184, 'timestamptz'],
  [1700, 'numeric'],
  [3802, 'json'],
]);

export function typeFamily(typeOid: number): TypeFamily {
  return FAMILY_BY_OID.get(typeOid) ?? 'other';
}

/** Properties of the target column that the encoders use. */
export interface ColumnTarget {
  readonly family: TypeFamily;
  /** OID of the column's type. Binary array parameters contain it as the type of their elements. */
  readonly typeOid: number;
  /** Fractional digits of a second that the column stores (0 to 6). Cells are rounded to it, as the server would do. */
  readonly precision: number;
  /** Length limit of varchar(n) and char(n) in characters; `undefined` without a limit. */
  readonly maxLength: number | undefined;
  readonly acceptsNull: boolean;
  /** True if the column itself has an array type. */
  readonly isArray?: boolean;
  /** True if cells may be sent in binary format: false for domains and arrays. */
  readonly binary: boolean;
}

/** Reason why a cell does not fit a column. The text follows `column "x" of table "t" (bigint): `. */
export class Refusal {
  readonly sqlstate: string;
  readonly reason: string;

  constructor(sqlstate: string, reason: string) {
    this.sqlstate = sqlstate;
    this.reason = reason;
  }
}

/** Called for each cell that an encoder rejects; `row` is the row's index in the batch. */
export type Refuse = (row: number, refusal: Refusal) => void;

export const NULL_REFUSED = new Refusal('23502', 'the value is missing, and the column does not accept NULL');

export const INTEGER_BOUNDS = {
  int2: { min: -32_768n, max: 32_767n },
  int4: { min: -2_147_483_648n, max: 2_147_483_647n },
  int8: { min: -9_223_372_036_854_775_808n, max: 9_223_372_036_854_775_807n },
} as const;

/** The smallest number that rounds to infinity as a 4-byte float (halfway between its largest value and 2^128). */
export const FLOAT4_OVERFLOW = 3.4028235677973366e38;

export function outOfRange(shown: string): Refusal {
  return new Refusal('22003', `${shown} is out of range`);
}

export function notInteger(shown: string): Refusal {
  return new Refusal('22P02', `${shown} is not an integer`);
}
