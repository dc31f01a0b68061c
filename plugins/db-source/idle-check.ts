import { DatabaseError, isUnreachable, type Executor } from '../database/index.ts';

/** Tables that one statement looks at: planning takes longer than asking, and locks are held for each. */
const TABLES_PER_CHECK = 100;
const CHECK_TIMEOUT_MS = 10_000;
/** One table that is being altered must not keep the others waiting. */
const LOCK_TIMEOUT_MS = 200;

/**
 * Which of the feeds have new rows, by one statement for a hundred of them. Where a statement fails all of its feeds are given, so
 * that reading each of them shows which is the trouble.
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
      const isOneTable = error instanceof DatabaseError && !isUnreachable(error);
      if (!isOneTable || signal.aborted) throw error;
      found.push(...part.map(({ feed }) => feed));
    }
  }
  return found;
}
