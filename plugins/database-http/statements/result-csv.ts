import type { QueryResult } from '../../database/index.ts';
import { cellText } from './cell-json.ts';
import type { ResultWriter } from './result-writer.ts';

/** Writes CSV by RFC 4180 with a header line. NULL is an empty field, and an empty string is `""`, as in COPY. */
export class ResultCsv implements ResultWriter {
  readonly contentType = 'text/csv; charset=utf-8';
  readonly truncated = false;
  readonly #head: string;
  readonly #cells: readonly ((text: string) => string)[];
  #rows = 0;

  constructor(fields: QueryResult['fields']) {
    this.#head = `${fields.map(({ name }) => quoted(name)).join(',')}\r\n`;
    this.#cells = fields.map(cellText);
  }

  get rowCount(): number {
    return this.#rows;
  }

  head(): string {
    return this.#head;
  }

  rows(rows: QueryResult['rows']): Buffer {
    let text = '';
    for (const row of rows) {
      for (let index = 0; index < row.length; index++) {
        const cell = row[index];
        if (index > 0) text += ',';
        if (cell !== null && cell !== undefined) text += quoted(this.#cells[index]?.(cell) ?? cell);
      }
      text += '\r\n';
    }
    this.#rows += rows.length;
    return Buffer.from(text);
  }
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
