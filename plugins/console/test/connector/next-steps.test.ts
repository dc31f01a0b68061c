import assert from 'node:assert/strict';
import type { Health } from '../../src/common/answers.ts';
import { nextSteps } from '../../src/connector/next-steps.ts';

const TASK: Health['tasks'][number] = {
  ...{ task: 0, state: 'RUNNING', worker: 'w', thread: 1, partitions: [], lag: 0, waiting: 0, lastDeliveredAt: null },
  ...{ waitedMs: 0, retries: 0, deadLettersPerMinute: 0, missingTopics: [], cause: null },
};

/** Titles and addresses of the steps. */
function steps(health: Partial<Health>): readonly (readonly [title: string, target: string | undefined])[] {
  const given = { summary: '', reasons: [], restarts: [], tasks: [TASK], type: 'sink' as const, ...health };
  return nextSteps('a b', { verdict: 'RUNNING', ...given }).map(({ title, address, statement }) => [
    title,
    address ?? statement,
  ]);
}

describe('the next steps of a connector', () => {
  it('that failed at a record lead to the record, to the offset after it, and to the options that keep records', () => {
    const summary = 'Task 0 has failed: no number (TASK_PUT, topic orders, partition 2, offset 17).';
    assert.deepEqual(steps({ verdict: 'FAILED', summary }), [
      ['Show the record', '#/connectors/a%20b/data?topic=orders&partition=2&offset=17'],
      ['Skip the record', '#/connectors/a%20b/offsets?skip=orders-2%4017'],
      ['Keep failed records', '#/connectors/a%20b/configuration?add=dead-letters'],
    ]);
  });

  it('with a wrong password lead to its field', () => {
    const summary = 'Task 0 has failed: password authentication failed for user "a" (28P01).';
    assert.deepEqual(steps({ verdict: 'FAILED', summary }), [
      ['Change the password', '#/connectors/a%20b/configuration?focus=connection.password'],
    ]);
  });

  it('that waits for a lock have the statement that ends it', () => {
    const summary =
      'Task 0: 5 records wait, and nothing was delivered for 90 s: the database waits for a lock that pid 999 holds.';
    assert.deepEqual(steps({ verdict: 'STALLED', summary }), [
      ['End the session with pid 999:', 'select pg_terminate_backend(999)'],
    ]);
  });

  it('that is behind raise the number of tasks, as long as there are partitions for them', () => {
    const partitions = [0, 1, 2, 3].map((partition) => ({ topic: 'orders', partition, lag: 9 }));
    const tasks = [{ ...TASK, partitions }];
    assert.deepEqual(steps({ verdict: 'LAGGING', tasks }), [
      ['Raise tasks.max (1 now; 4 partitions)', '#/connectors/a%20b/configuration?focus=tasks.max'],
    ]);
    assert.equal(steps({ verdict: 'LAGGING' })[0]?.[0], 'See where the time goes');
  });

  it('are absent while it does its work', () => {
    assert.deepEqual(steps({}), []);
    const reasons = ['The topic ordres has never had a record; check its name in topics.'];
    assert.deepEqual(steps({ reasons }), [['Check the topics', '#/connectors/a%20b/configuration?focus=topics']]);
  });
});
