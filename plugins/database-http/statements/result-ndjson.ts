import type { QueryResult } from '../../database/index.ts';
import { cellWriter, type CellRules, type CellWriter } from './cell-json.ts';
import type { ResultWriter } from './result-writer.ts';

/**
 * Writes each row as a line with a JSON object, whose keys are the names of the columns. If two columns have the same
 * name, most readers use the last one.
 */
export class ResultNdjson implements ResultWriter {
  readonly contentType = 'application/x-ndjson';
  readonly truncated = false;
  readonly #keys: readonly string[];
  readonly #writers: readonly CellWriter[];
  #rows = 0;

  constructor(fields: QueryResult['fields'], rules: CellRules) {
    this.#keys = fields.map(({ name }) => `${JSON.stringify(name)}:`);
    this.#writers = fields.map((field) => cellWriter(field, rules));
  }

  get rowCount(): number {
    return this.#rows;
  }

  head(): string {
    return '';
  }

  rows(rows: QueryResult['rows']): Buffer {
    let text = '';
    for (const row of rows) {
      text += '{';
      for (let index = 0; index < row.length; index++) {
        const cell = row[index];
        const value = cell === null || cell === undefined ? 'null' : this.#writers[index]?.(cell);
        text += `${index > 0 ? ',' : ''}${this.#keys[index] ?? ''}${value ?? 'null'}`;
      }
      text += '}\n';
    }
    this.#rows += rows.length;
    return Buffer.from(text);
  }
}
