import { DatabaseError, isUnreachableOrFull, type Executor } from '../database/index.ts';

/** Maximum number of tables per statement. Planning takes longer than execution, and each table is locked. */
const TABLES_PER_CHECK = 100;
const CHECK_TIMEOUT_MS = 10_000;
/** Lock timeout, so that a table that is being altered does not delay the others. */
const LOCK_TIMEOUT_MS = 200;

/**
 * Returns the feeds with new rows, using one statement per hundred tables. If a statement fails although the database
 * is available, returns all of its feeds, so that reading them individually shows which one is the cause.
 */
export async function feedsWithRows<F>(
  executor: Executor,
  checks: readonly { readonly feed: F; readonly condition: string }[],
  signal: AbortSignal,
): Promise<F[]> {
  const found: F[] = [];
  for (let start = 0; start < checks.length; start += TABLES_PER_CHECK) {
    const part = checks.slice(start, start + TABLES_PER_CHECK);
    const sql = part.map(({ condition }, index) => `SELECT ${String(index)} WHERE ${condition}`).join(' UNION ALL ');
    try {
      const { rows } = await executor.session(
        async (session) => {
          await session.query(`SET LOCAL lock_timeout = ${String(LOCK_TIMEOUT_MS)}`);
          return session.query(sql, [], { signal, timeoutMs: CHECK_TIMEOUT_MS });
        },
        { readTransaction: true, signal },
      );
      for (const [index] of rows) {
        const check = part[Number(index)];
        if (check !== undefined) found.push(check.feed);
      }
    } catch (error) {
      const isOneTable = error instanceof DatabaseError && !isUnreachableOrFull(error);
      if (!isOneTable || signal.aborted) throw error;
      found.push(...part.map(({ feed }) => feed));
    }
  }
  return found;
}
