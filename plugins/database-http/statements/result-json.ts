import type { QueryResult } from '../../database/index.ts';
import { type CellRules, type CellWriter, cellWriter } from './cell-json.ts';
import { columnMeta } from './column-meta.ts';
import type { Page } from './page.ts';
import type { ResultWriter } from './result-writer.ts';
import { ApiFailure } from '../route.ts';
import { TEXTS } from '../texts.ts';

type Rows = QueryResult['rows'];

/**
 * Writes the answer of a query as JSON and counts its bytes, so that the answer with its last keys never exceeds `maxBytes`. Only
 * whole rows are written. After the first row that does not fit, no further rows are written.
 */
export class ResultJson implements ResultWriter {
  readonly contentType = 'application/json';
  readonly #page: Page;
  readonly #maxBytes: number;
  readonly #writers: readonly CellWriter[];
  readonly #meta: string;
  #bytes = 0;
  #rows = 0;
  #truncated = false;

  constructor(fields: QueryResult['fields'], rules: CellRules & { readonly maxBytes: number; readonly page: Page }) {
    this.#maxBytes = rules.maxBytes;
    this.#page = rules.page;
    this.#writers = fields.map((field) => cellWriter(field, rules));
    this.#meta = `[${fields.map(columnMeta).join(',')}]`;
    this.#bytes = Buffer.byteLength(this.head(0)) + TAIL_BYTES + (rules.page.isAsked ? CONTINUATION_BYTES : 0);
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  get rowCount(): number {
    return this.#rows;
  }

  /** The text before the rows. `time` is the duration in seconds up to the time when it is sent. */
  head(time: number): string {
    return `{"code":0,"desc":null,"time":${time.toFixed(6)},"column_meta":${this.#meta},"data":[`;
  }

  /** The rows of a chunk that still fit. Throws an ApiFailure with status 400 if the first row of the answer does not fit. */
  rows(rows: Rows): Buffer {
    let text = '';
    for (const row of rows) text += `${this.#rows++ === 0 ? '' : ','}${this.#row(row)}`;
    const bytes = Buffer.from(text);
    if (this.#bytes + bytes.length <= this.#maxBytes) {
      this.#bytes += bytes.length;
      return bytes;
    }
    this.#rows -= rows.length;
    return this.#fitting(rows);
  }

  tail(): string {
    const truncated = this.#truncated ? ',"truncated":true' : '';
    const next = this.#page.isAsked ? (this.#page.continuation(this) ?? null) : undefined;
    const continuation = next === undefined ? '' : `,"continuation":${JSON.stringify(next)}`;
    return `],"rows":${String(this.#rows)}${truncated}${continuation}}`;
  }

  #fitting(rows: Rows): Buffer {
    const pieces: Buffer[] = [];
    for (const row of rows) {
      const piece = Buffer.from(`${this.#rows === 0 ? '' : ','}${this.#row(row)}`);
      if (this.#bytes + piece.length > this.#maxBytes) {
        // An answer without rows would look like the end of the result.
        if (this.#rows === 0) throw new ApiFailure(400, TEXTS.longRow(this.#maxBytes));
        break;
      }
      this.#bytes += piece.length;
      this.#rows += 1;
      pieces.push(piece);
    }
    this.#truncated = true;
    return Buffer.concat(pieces);
  }

  #row(row: Rows[number]): string {
    let text = '[';
    for (let index = 0; index < row.length; index++) {
      const cell = row[index];
      const writer = this.#writers[index];
      if (index > 0) text += ',';
      text += cell === null || cell === undefined || writer === undefined ? 'null' : writer(cell);
    }
    return `${text}]`;
  }
}

const TAIL_BYTES = '],"rows":9007199254740991,"truncated":true}'.length;
const CONTINUATION_BYTES = ',"continuation":"0123456789.0123456789abcdef"'.length;
