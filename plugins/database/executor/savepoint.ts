import { DatabaseError } from '../../../src/errors.ts';
import type { StatementRunner } from './connection.ts';

/** Runs internal statements without parameters. */
type RunText = (sql: string) => Promise<unknown>;

/** Runs `work` under a savepoint: if it rejects, its effects are rolled back and the transaction continues. */
export async function savepoint<T>(run: RunText, work: () => Promise<T>): Promise<T> {
  await run('SAVEPOINT sluice');
  try {
    const result = await work();
    await run('RELEASE SAVEPOINT sluice');
    return result;
  } catch (error) {
    // If the rollback fails as well, the connection is lost. The first error is then the relevant one.
    await run('ROLLBACK TO SAVEPOINT sluice')
      .then(() => run('RELEASE SAVEPOINT sluice'))
      .catch(() => undefined);
    throw error;
  }
}

/** Runs `work` in a transaction with a savepoint around each statement, so that statements may fail individually. */
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
