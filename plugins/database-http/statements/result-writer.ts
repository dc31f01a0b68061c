import type { QueryResult } from '../../database/index.ts';

/** Writes the parts of a query's answer in one format. */
export interface ResultWriter {
  readonly contentType: string;
  /** Whether rows were dropped because of the size limit of the answer. */
  readonly truncated: boolean;
  /** Number of rows that were written. */
  readonly rowCount: number;
  /** The text before the rows. `seconds` is the duration up to the time when it is sent. */
  head(seconds: number): string;
  /** The rows of a chunk that still fit. */
  rows(rows: QueryResult['rows']): Buffer;
  /** The text after the rows, if the format has one. */
  tail?(): string;
}
