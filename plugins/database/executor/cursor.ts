import Cursor from 'pg-cursor';
import type pg from 'pg';
import type { QueryResult, StatementOptions } from './api.ts';
import { type Connection, refuseNul, type Statement, TEXT_VALUES, toQueryResult } from './connection.ts';

type Row = (string | null)[];

/**
 * Reads a result through a portal, `chunkRows` rows a time; a chunk is fetched when the consumer asks for it, so that
 * memory holds one. At least one chunk comes, empty or not, because it carries the fields. The timeout counts per chunk.
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
    // After an error the portal is gone already, and the driver would wait for an answer that does not come.
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
      const answer = toQueryResult(result ?? EMPTY_RESULT, chunk);
      // The server's count is that of all rows so far, and comes with the last chunk only.
      resolve(chunk.length > 0 ? { ...answer, rowCount: chunk.length } : answer);
    });
  });
}

/** What the cursor leaves out when it had ended before it was asked. */
const EMPTY_RESULT: pg.QueryResultBase = { command: '', rowCount: 0, oid: 0, fields: [] };
