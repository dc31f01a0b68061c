import { DatabaseError } from '../../../src/errors.ts';
import type { StatementRunner } from './connection.ts';

/** Runs our own statements that have no parameters. */
type RunText = (sql: string) => Promise<unknown>;

/** Does `work` under a savepoint: when it rejects, the transaction goes on as if it had not begun. */
export async function savepoint<T>(run: RunText, work: () => Promise<T>): Promise<T> {
  await run('SAVEPOINT sluice');
  try {
    const result = await work();
    await run('RELEASE SAVEPOINT sluice');
    return result;
  } catch (error) {
    // When even that fails the connection is gone, and the first error is the one to tell.
    await run('ROLLBACK TO SAVEPOINT sluice')
      .then(() => run('RELEASE SAVEPOINT sluice'))
      .catch(() => undefined);
    throw error;
  }
}

/** Does `work` in one transaction, each of its statements under a savepoint, so that those that fail can be told apart. */
export async function inTransaction<T>(
  connection: StatementRunner,
  work: (runner: StatementRunner) => Promise<T>,
): Promise<T> {
  const run: RunText = (text) => connection.run({ text });
  await run('BEGIN');
  try {
    const result = await work({
      run: (...call) => savepoint(run, () => connection.run(...call)),
      ask: (...call) => savepoint(run, () => connection.ask(...call)),
      copyIn: (...call) => savepoint(run, () => connection.copyIn(...call)),
    });
    const end = await connection.run({ text: 'COMMIT' });
    if (end.command === 'ROLLBACK')
      throw new DatabaseError('the transaction was rolled back', { scope: 'infrastructure' });
    return result;
  } catch (error) {
    await run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
