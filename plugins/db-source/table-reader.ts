import type { Executor, QueryResult, SourceCoordinates, Table } from '../../src/index.ts';
import { keyColumnsOf, TableQuery, timeColumnOf, type TablePosition } from './table-query.ts';

/** Rows of one query, with the position after each. */
export interface ReadRows {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly positions: readonly TablePosition[];
}

/** Reads one table forward from a position; knows nothing of records and topics. */
export class TableReader {
  readonly table: Table;
  readonly #executor: Executor;
  readonly #query: TableQuery;
  readonly #keyed: boolean;
  #position: TablePosition;

  /** `undefined` when the table has no column to order by. */
  static create(
    executor: Executor,
    table: Table,
    intervalMs: number,
    position: TablePosition,
  ): TableReader | undefined {
    const time = timeColumnOf(table);
    if (time === undefined) return undefined;
    const keyed = keyColumnsOf(table, time) !== undefined;
    return new TableReader(executor, table, new TableQuery(table, time, intervalMs), keyed, position);
  }

  private constructor(executor: Executor, table: Table, query: TableQuery, keyed: boolean, position: TablePosition) {
    this.#executor = executor;
    this.table = table;
    this.#query = query;
    this.#keyed = keyed;
    this.#position = suited(position, keyed);
  }

  get position(): TablePosition {
    return this.#position;
  }

  /** The next rows, at most `limit`; none: nothing new up to now. */
  async read(limit: number, signal: AbortSignal): Promise<ReadRows> {
    const { sql, parameters } = this.#query.next(this.#position, limit);
    const { rows } = await this.#executor.query(sql, parameters, { signal });
    const positions = this.#positionsOf(rows);
    this.#position = positions.at(-1) ?? this.#position;
    return { rows, positions };
  }

  #positionsOf(rows: QueryResult['rows']): TablePosition[] {
    const timeAt = this.table.columns.length;
    let { micros: timeBefore } = this.#position;
    let rowsAtTime = this.#position.kind === 'counted' ? this.#position.rowsAtTime : 0;
    return rows.map((row): TablePosition => {
      const micros = row[timeAt] ?? '';
      if (this.#keyed) return { kind: 'after', micros, key: row.slice(timeAt + 1).map((value) => value ?? '') };
      rowsAtTime = micros === timeBefore ? rowsAtTime + 1 : 1;
      timeBefore = micros;
      return { kind: 'counted', micros, rowsAtTime };
    });
  }
}

/** A position of the other kind (the table's key came or went) starts again at its time: rows of that time come twice. */
function suited(position: TablePosition, keyed: boolean): TablePosition {
  const fits = position.kind === 'from' || (position.kind === 'after') === keyed;
  return fits ? position : { kind: 'from', micros: position.micros };
}

/** Offsets as they are stored: `{"timestamp_us":…,"key":"[…]"}` or `{"timestamp_us":…,"rows":n}`. */
export function toOffset(position: TablePosition): SourceCoordinates {
  const time = { timestamp_us: BigInt(position.micros) };
  if (position.kind === 'after') return { ...time, key: JSON.stringify(position.key) };
  return position.kind === 'counted' ? { ...time, rows: position.rowsAtTime } : time;
}

/** Throws on an offset of another shape, with what it should look like. */
export function fromOffset(offset: SourceCoordinates, keyWidth: number | undefined): TablePosition {
  const { timestamp_us: time, key, rows } = offset;
  if (typeof time !== 'number' && typeof time !== 'bigint') {
    throw new Error(
      `the stored offset ${JSON.stringify(offset, bigintText)} is not of the form {"timestamp_us":…,"key":"[…]"}`,
    );
  }
  const micros = time.toString();
  if (typeof key === 'string') {
    const values = JSON.parse(key) as unknown;
    if (Array.isArray(values) && values.length === keyWidth) return { kind: 'after', micros, key: values.map(String) };
  } else if (rows !== undefined) {
    return { kind: 'counted', micros, rowsAtTime: Number(rows) };
  }
  return { kind: 'from', micros };
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
