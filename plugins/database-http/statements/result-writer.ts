import type { QueryResult } from '../../database/index.ts';

/** Writes the parts of a query's answer. */
export interface ResultWriter {
  readonly contentType: string;
  /** Whether rows were left out because the answer may have no more bytes. */
  readonly truncated: boolean;
  /** Rows that were written. */
  readonly rowCount: number;
  /** The text before the rows; `seconds` is the time known when it is sent. */
  head(seconds: number): string;
  /** The rows of a chunk that still fit. */
  rows(rows: QueryResult['rows']): Buffer;
  /** The text after the rows, if the format has one. */
  tail?(): string;
}
