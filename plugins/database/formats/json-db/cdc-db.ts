import type { Fault, Origin } from '../../../../src/data/fault.ts';
import { RowBatchBuilder, type OpenColumn } from '../../../../src/data/row-batch-builder.ts';
import { standsAt, ownText } from '../../../../src/data/repeated-texts.ts';
import { readCdcMessage, type CdcRows, type CdcTable } from './cdc-db-envelope.ts';
import { messageText, shown } from '../message-text.ts';
import type { Decoded, DecodedPart, DecodedStatement, Decoder, Precision } from '../format.ts';
import { JsonCellReader, type TimestampsAs } from './json-db-cells.ts';
import { notJson } from './json-db-envelope.ts';
import { JsonCursor } from '../../../../src/json/json-cursor.ts';

export interface CdcDbPolicy {
  /** Unit of integer times; default `ms`. */
  readonly precision?: Precision | undefined;
  /** Default `either`. */
  readonly timestampsAs?: TimestampsAs | undefined;
  /**
   * The target database; not checked if `undefined`. Messages for another database are refused, because statements are
   * executed unchanged (docs/formats.md#cdc_db) and would change the target database instead.
   */
  readonly database?: string | undefined;
}

/** Number of cached table descriptions. A message is compared with them before it is parsed. */
const REMEMBERED_ENVELOPES = 16;
/** Each invalid row of a message gets its own fault. With more invalid rows than this, the whole message is refused. */
const MAX_FAULTS_PER_MESSAGE = 10_000;

interface OpenRows {
  readonly table: CdcTable;
  readonly rows: RowBatchBuilder;
  readonly columns: readonly OpenColumn[];
}

/**
 * Decodes cdc_db (docs/formats.md#cdc_db). Each message is a JSON object that contains rows of a table (`insert`,
 * `snapshot`) or a statement (all other kinds), which separates preceding and following rows in `Decoded.parts`. Rows
 * of a table share a batch until a statement follows or their columns change. The description of the rows is compared
 * with recent ones as text. An unreadable message is a single fault and produces no rows; an invalid row is a separate
 * fault.
 */
export class CdcDbDecoder implements Decoder {
  readonly #database: string | undefined;
  readonly #cursor = new JsonCursor();
  readonly #cells: JsonCellReader;
  readonly #envelopes: CdcRows[] = [];
  /** Open batches by schema and table, since the last statement. */
  readonly #open = new Map<string, OpenRows>();
  #parts: (OpenRows | DecodedStatement)[] = [];
  #faults: Fault[] = [];
  #rowCount = 0;
  #hasStatements = false;

  constructor(policy: CdcDbPolicy = {}) {
    this.#database = policy.database;
    this.#cells = new JsonCellReader(this.#cursor, policy.precision ?? 'ms', policy.timestampsAs ?? 'either');
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  add(message: string | Uint8Array, origin: Origin): void {
    const { text, valid } = messageText(message);
    const known = valid ? this.#envelopes.find(({ prefix }) => standsAt(text, prefix, 0)) : undefined;
    if (known !== undefined && this.#readRows(known, text, origin) === undefined) return;
    const problem = valid ? this.#readUnknown(text, origin) : 'the message is not UTF-8';
    if (problem !== undefined) this.#faults.push({ scope: 'record', message: `cdc_db: ${problem}`, origin });
  }

  take(): Decoded {
    const parts = this.#parts.flatMap((part): DecodedPart[] => {
      if ('sql' in part) return [{ kind: 'statement', statement: part }];
      if (part.rows.rowCount === 0) return [];
      return [{ kind: 'rows', rows: { batch: part.rows.build(), shape: undefined } }];
    });
    const rows = parts.flatMap((part) => (part.kind === 'rows' ? [part.rows] : []));
    const faults = this.#faults;
    const hasStatements = this.#hasStatements;
    this.#open.clear();
    this.#parts = [];
    this.#faults = [];
    this.#rowCount = 0;
    this.#hasStatements = false;
    return hasStatements ? { rows, faults, parts } : { rows, faults };
  }

  /** Reads a message whose description is not cached. */
  #readUnknown(text: string, origin: Origin): string | undefined {
    this.#cursor.open(text);
    const message = readCdcMessage(this.#cursor);
    if (typeof message === 'string') return message;
    const { database } = message.kind === 'rows' ? message.table : message;
    if (this.#database !== undefined && database !== this.#database) {
      return `the message is for database ${shown(database)}, but the sink writes to ${shown(this.#database)}; changes can only be applied to a database of the same name`;
    }
    if (message.kind === 'statement') {
      this.#open.clear();
      this.#parts.push({ ...message.statement, origin });
      this.#hasStatements = true;
      this.#rowCount++;
      return undefined;
    }
    const envelope = { ...message, prefix: ownText(message.prefix), suffix: ownText(message.suffix) };
    this.#envelopes.unshift(envelope);
    if (this.#envelopes.length > REMEMBERED_ENVELOPES) this.#envelopes.pop();
    return this.#readRows(envelope, text, origin);
  }

  /** Reads the rows after the envelope's prefix; on errors, no row is kept. */
  #readRows({ table, prefix, suffix }: CdcRows, text: string, origin: Origin): string | undefined {
    const open = this.#openRows(table);
    const rowsBefore = open.rows.rowCount;
    const faultsBefore = this.#faults.length;
    const cursor = this.#cursor;
    cursor.open(text, prefix.length);
    cursor.skipSpace();
    const read = this.#rows(open, origin);
    if (read === true && text.length - cursor.position === suffix.length && standsAt(text, suffix, cursor.position)) {
      this.#rowCount += open.rows.rowCount - rowsBefore;
      return undefined;
    }
    open.rows.truncate(rowsBefore);
    this.#faults.length = faultsBefore;
    return typeof read === 'string' ? read : notJson(cursor);
  }

  #openRows(table: CdcTable): OpenRows {
    const key = JSON.stringify([table.schema, table.name]);
    const known = this.#open.get(key);
    if (known?.table.signature === table.signature) return known;
    const { schema, name } = table;
    const rows = new RowBatchBuilder(schema === undefined ? { name } : { schema, name });
    const columns = table.columns.map((column) => rows.addColumn(column.name, column.role, column.kind));
    const open = { table, rows, columns };
    this.#open.set(key, open);
    this.#parts.push(open);
    return open;
  }

  /** Returns false if the text is not JSON, and a string if there are too many invalid rows. */
  #rows(open: OpenRows, origin: Origin): boolean | string {
    const cursor = this.#cursor;
    if (cursor.atArrayEnd()) return true;
    const faultsBefore = this.#faults.length;
    let index = 0;
    do {
      index++;
      const start = cursor.position;
      const problem = this.#row(open);
      if (problem === undefined) {
        open.rows.endRow(origin, 0);
        continue;
      }
      open.rows.abandonRow();
      cursor.position = start;
      if (!cursor.value()) return false;
      if (this.#faults.length - faultsBefore >= MAX_FAULTS_PER_MESSAGE) {
        return `more than ${String(MAX_FAULTS_PER_MESSAGE)} rows of the message are invalid`;
      }
      const message = `cdc_db: row ${String(index)} of the message: ${problem.text}`;
      const { name: table } = open.table;
      this.#faults.push({ scope: 'record', message, origin, table, column: problem.column });
    } while (cursor.takeComma());
    return cursor.atArrayEnd();
  }

  /** Reads a row's cells into the open row. After a problem, the position of the cursor is undefined. */
  #row({ table: { columns }, columns: filled }: OpenRows): RowProblem | undefined {
    const cursor = this.#cursor;
    if (!cursor.openArray()) return { text: `a row must be an array of values, not ${String(cursor.peek())}` };
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index];
      const cells = filled[index]?.cells;
      if (column === undefined || cells === undefined) break;
      if (index > 0 && !cursor.takeComma()) return wrongCount(columns.length);
      const cell = this.#cells.read(column);
      if (cell === undefined) {
        return this.#cells.problem === ''
          ? wrongCount(columns.length)
          : { text: this.#cells.problem, column: column.name };
      }
      cells.push(cell);
    }
    return cursor.closeArray() ? undefined : wrongCount(columns.length);
  }
}

interface RowProblem {
  readonly text: string;
  readonly column?: string | undefined;
}

function wrongCount(columns: number): RowProblem {
  return { text: `a row must have as many values as "columnnames" has names, ${String(columns)}` };
}
