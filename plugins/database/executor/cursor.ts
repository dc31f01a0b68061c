import Cursor from 'pg-cursor';
import type pg from 'pg';
import type { QueryResult, StatementOptions } from './api.ts';
import { type Connection, refuseNul, type Statement, TEXT_VALUES, toQueryResult } from './connection.ts';

type Row = (string | null)[];

/**
 * Reads a result through a portal in chunks of `chunkRows` rows. Each chunk is fetched on demand, so that only one is
 * in memory. Yields at least one chunk, because the fields are in the chunks; without rows, that chunk is empty. The
 * timeout applies to each chunk.
 */
export async function* readCursor(
  connection: Connection,
  statement: Statement,
  options: StatementOptions & { readonly chunkRows: number },
): AsyncGenerator<QueryResult> {
  refuseNul(statement.text);
  const cursor = new Cursor<Row>(statement.text, [...(statement.values ?? [])], {
    rowMode: 'array',
    types: TEXT_VALUES,
  });
  let submitted = false;
  let failed = false;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const chunk = await connection.interruptible(options, async () => {
        if (!submitted) connection.client.query(cursor);
        submitted = true;
        return read(cursor, options.chunkRows);
      });
      if (isFirst || chunk.rows.length > 0) yield chunk;
      if (chunk.rows.length < options.chunkRows) return;
    }
  } catch (error) {
    failed = true;
    throw error;
  } finally {
    // After an error, the portal no longer exists, and the driver would wait forever for the response to `close`.
    if (submitted && !failed && connection.lost === undefined) await cursor.close();
  }
}

async function read(cursor: Cursor<Row>, rows: number): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    cursor.read(rows, (error: Error | undefined, chunk: Row[], result: pg.QueryResultBase | undefined) => {
      if (error !== undefined && error !== null) {
        reject(error);
        return;
      }
      const page = toQueryResult(result ?? EMPTY_RESULT, chunk);
      // The command tag arrives with the last chunk only, so the rows of each chunk are counted here.
      resolve(chunk.length > 0 ? { ...page, rowCount: chunk.length } : page);
    });
  });
}

/** Result of reading a cursor that has already ended. */
const EMPTY_RESULT: pg.QueryResultBase = { command: '', rowCount: 0, oid: 0, fields: [] };
