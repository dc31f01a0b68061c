import assert from 'node:assert/strict';
import type { RestartState } from '../../../../src/operate/restarts/restart-state.ts';
import { restartView } from '../../../../src/operate/restarts/restart-view.ts';
import { judge, type ConnectorFigures, type TaskFigures } from '../../../../src/operate/health/verdict.ts';

const THRESHOLDS = { stallAfterMs: 1000, degradedRate: 5, laggingRecords: 100 };

const task = (more: Partial<TaskFigures & { trace: string }> = {}): TaskFigures => ({
  task: 0,
  state: 'RUNNING',
  worker: 'worker:8083',
  thread: 1,
  partitions: [{ topic: 'events', partition: 0, lag: 0 }],
  lag: 0,
  waiting: 0,
  lastDeliveredAt: null,
  waitedMs: 0,
  retries: 0,
  deadLettersPerMinute: 0,
  missingTopics: [],
  cause: null,
  ...more,
});

const judged = (tasks: readonly TaskFigures[], more: Partial<ConnectorFigures> = {}) =>
  judge({ type: 'sink', state: 'RUNNING', trace: null, tasks, silentWorkers: [], ...more }, THRESHOLDS);

describe('the verdict on a connector', () => {
  it('is RUNNING while records are delivered, also with more tasks than partitions', () => {
    const { verdict, sentence } = judged([task({ lag: 3 }), task({ task: 1, partitions: [], lag: null })]);
    assert.deepEqual([verdict, sentence], ['RUNNING', '2 tasks run, 3 records behind.']);
  });

  it('has a hint at tasks that never get a partition (M12)', () => {
    const idle = (withoutPartitionsMs: number) =>
      task({ task: 1, partitions: [], lag: null, isInGroup: true, withoutPartitionsMs });
    assert.deepEqual(judged([task(), idle(999)]).reasons, []);
    const { verdict, reasons } = judged([task(), idle(1000)]);
    assert.equal(verdict, 'RUNNING');
    assert.deepEqual(reasons, [
      '1 of 2 tasks have no partition: tasks.max is greater than the number of partitions, or other members of the consumer group have them.',
    ]);
  });

  it('has a hint at topics of the list that never had a record in any partition, or do not exist (U17)', () => {
    const partitions = ['events', 'evnets'].map((topic) => ({ topic, partition: 0, lag: 0 }));
    const first = task({ partitions, emptyTopics: ['evnets'] });
    const hint = 'The topic evnets has never had a record; check its name in topics.';
    const { verdict, reasons } = judged([first], { listsTopics: true });
    assert.deepEqual([verdict, reasons], ['RUNNING', [hint]]);
    const second = (more: Partial<TaskFigures>) =>
      task({ task: 1, partitions: [{ topic: 'evnets', partition: 1, lag: 0 }], ...more });
    assert.deepEqual(judged([first, second({ emptyTopics: ['evnets'] })], { listsTopics: true }).reasons, [hint]);
    assert.deepEqual(judged([first, second({})], { listsTopics: true }).reasons, [], 'another partition has records');
    assert.deepEqual(judged([first]).reasons, [], 'topics.regex finds topics that exist');
    const missing = judged([task({ missingTopics: ['gone'] })], { listsTopics: true });
    assert.deepEqual(
      [missing.verdict, missing.reasons],
      ['RUNNING', ['The topic gone does not exist; check its name in topics.']],
    );
  });

  it('is STALLED from stall.after.ms on, with the cause', () => {
    assert.equal(judged([task({ waiting: 2, waitedMs: 999 })]).verdict, 'RUNNING');
    const { verdict, sentence } = judged([task({ waiting: 2, waitedMs: 4000, cause: 'the database is unreachable' })]);
    assert.equal(verdict, 'STALLED');
    assert.equal(sentence, 'Task 0: 2 records wait, and nothing was delivered for 4 s: the database is unreachable.');
  });

  it('says that a rate limit holds tasks back, which hides no stall', () => {
    const running = judged([task({ lag: 90, throttledMs: 900 }), task({ task: 1, lag: 3 })]);
    assert.deepEqual(
      [running.verdict, running.sentence],
      ['RUNNING', '2 tasks run, 93 records behind; the rate limit holds 1 of them back.'],
    );
    const lagging = judged([task({ lag: 101, throttledMs: 900 })]);
    assert.equal(
      lagging.sentence,
      'Task 0 is 101 records behind, more than lagging.records=100: its rate limit holds it back.',
    );
    assert.equal(judged([task({ waiting: 2, waitedMs: 4000, throttledMs: 900 })]).verdict, 'STALLED');
  });

  it('is DEGRADED while parts of a task have failed, with the first of them and why (M4)', () => {
    const failedParts = { count: 3, parts: [{ name: 'meters', error: 'permission denied for table meters' }] };
    const { verdict, sentence, reasons } = judged([task(), task({ task: 1, lag: 900, failedParts })]);
    assert.deepEqual(
      [verdict, sentence],
      ['DEGRADED', 'Task 1 cannot process meters: permission denied for table meters.'],
    );
    assert.deepEqual(reasons, [sentence, 'Task 1 cannot process 2 others either.']);
    const both = judged([task({ failedParts, deadLettersPerMinute: 6 })]);
    assert.deepEqual(both.reasons, [
      '6 records could not be delivered in the last minute, more than degraded.rate=5.',
      ...both.reasons.slice(1),
    ]);
    assert.equal(both.reasons.length, 3);
  });

  it('says for how long offsets have not been acknowledged, from stall.after.ms on', () => {
    assert.deepEqual(judged([task({ uncommittedMs: 999 })]).reasons, []);
    const { verdict, sentence, reasons } = judged([task(), task({ task: 1, uncommittedMs: 4000 })]);
    assert.deepEqual(
      [verdict, sentence],
      ['RUNNING', '2 tasks run, 0 records behind; Kafka has not acknowledged the offsets of task 1 for 4 s.'],
    );
    assert.deepEqual(reasons, [
      'Kafka has not acknowledged the offsets of task 1 for 4 s; when the task starts again, it reads their records again.',
    ]);
  });

  it('names the record that has failed a task, once, and the stage', () => {
    const outer = 'ConnectException: Tolerance exceeded in error handler\n\tat x';
    const place = 'at topic my.topic-1, partition 3, offset 42';
    const located = `\nCaused by: ConnectException: VALUE_CONVERTER failed for the record ${place}: it is no JSON\n\tat y`;
    const inner = '\nCaused by: DataException: it is no JSON\n\tat z';
    const sentence = (trace: string) => judged([task({ state: 'FAILED', trace })]).sentence;
    assert.equal(
      sentence(outer + located + inner),
      'Task 0 has failed: DataException: it is no JSON (VALUE_CONVERTER, topic my.topic-1, partition 3, offset 42)',
    );
    assert.equal(sentence(outer + inner), 'Task 0 has failed: DataException: it is no JSON');
    assert.equal(
      sentence(`${outer} failed for the record at nowhere${inner}`),
      'Task 0 has failed: DataException: it is no JSON',
    );
  });

  it('says what could not be reached, not the error of the system behind it', () => {
    const own =
      'java.sql.SQLException: cannot connect to database "d" as user "u" at db:1: connection refused (ECONNREFUSED)\n\tat a';
    const same = '\nCaused by: java.sql.SQLException: connection refused (ECONNREFUSED)\n\tat b';
    const system = '\nCaused by: java.lang.RuntimeException: connect ECONNREFUSED 127.0.0.1:1\n\tat c';
    const sentence = (trace: string) => judged([task({ state: 'FAILED', trace })]).sentence;
    const expected =
      'Task 0 has failed: SQLException: cannot connect to database "d" as user "u" at db:1: connection refused (ECONNREFUSED)';
    assert.equal(sentence(own + same + system), expected);
    const outer = 'org.apache.kafka.connect.errors.ConnectException: Exiting\n\tat x';
    assert.equal(sentence(`${outer}\nCaused by: ${own}${same}${system}`), expected);
  });

  it('leaves out the class of a failure where it says nothing, and the packages of the others', () => {
    const sentence = (trace: string) => judged([task({ state: 'FAILED', trace })]).sentence;
    const told = [
      'org.apache.kafka.connect.errors.DataException: it is no JSON',
      'org.apache.kafka.common.config.ConfigException: max.retries is missing',
      'java.net.UnknownHostException: db',
      'java.lang.NullPointerException',
      'no class: a.b.C: stays',
    ].map((trace) => sentence(`${trace}\n\tat x`).replace('Task 0 has failed: ', ''));
    assert.deepEqual(told, [
      'it is no JSON',
      'max.retries is missing',
      'UnknownHostException: db',
      'NullPointerException',
      'no class: a.b.C: stays',
    ]);
  });

  it('names the topic that does not exist', () => {
    const { verdict, sentence } = judged([task({ partitions: [], lag: null, missingTopics: ['orders'] })]);
    assert.deepEqual([verdict, sentence], ['STALLED', 'Task 0 has nothing to read: the topic orders does not exist.']);
  });

  it('is DEGRADED above degraded.rate, and LAGGING above lagging.records', () => {
    assert.equal(judged([task({ deadLettersPerMinute: 5 })]).verdict, 'RUNNING');
    assert.equal(judged([task({ deadLettersPerMinute: 3 }), task({ deadLettersPerMinute: 3 })]).verdict, 'DEGRADED');
    assert.equal(judged([task({ lag: 100 })]).verdict, 'RUNNING');
    assert.equal(judged([task({ lag: 101 })]).verdict, 'LAGGING');
  });

  it('says whether, and when, what has failed is restarted', () => {
    const failed = task({ state: 'FAILED', trace: 'Error: away.' });
    const restart: RestartState = {
      state: 'WAITING',
      policy: 'transient',
      attempt: 3,
      maxAttempts: 10,
      nextAttemptAtMs: Date.parse('2026-11-23T20:00:00.000Z'),
      quietMs: 1000,
      kind: 'infrastructure',
      reason: 'away',
      sinceMs: 0,
      config: '',
    };
    const sentence = (more: Partial<RestartState>) => {
      const restarts = [restartView({ connector: 'c', task: 0 }, { ...restart, ...more })];
      const { sentence: told, summary } = judged([failed], { restarts });
      assert.equal(summary, 'Task 0 has failed: away.');
      return told;
    };
    const given = { state: 'GIVEN_UP', nextAttemptAtMs: null } as const;
    const next = 'the next attempt, 3 of 10, is at 2026-11-23T20:00:00.000Z.';
    assert.equal(sentence({}), `Task 0 has failed: away; ${next}`);
    assert.match(sentence({ maxAttempts: -1 }), /the next attempt, 3, is at/);
    assert.match(sentence({ state: 'STARTED', nextAttemptAtMs: null }), /; attempt 3 of 10 has begun\.$/);
    assert.match(
      sentence({ ...given, attempt: 10 }),
      /, because all attempts were made \(restart\.max\.attempts=10\)\.$/,
    );
    assert.match(sentence({ ...given, policy: 'never' }), /; it is not restarted, because restart\.policy=never\.$/);
    assert.match(sentence({ ...given, kind: 'data' }), /of the kind data and restart\.policy=transient\.$/);
  });

  it('is FAILED with the innermost cause of the trace, whatever else holds', () => {
    const failed = task({ task: 1, state: 'FAILED', trace: 'Error: no such table\n\tat x' });
    const { verdict, sentence } = judged([task({ waiting: 1, waitedMs: 9000 }), failed]);
    assert.deepEqual([verdict, sentence], ['FAILED', 'Task 1 has failed: no such table']);
    const trace =
      'Outer: the task ends\n\tat a (b:1)\nCaused by: Middle: tolerance exceeded\n\tat c (d:2)\nCaused by: Inner: no such column\n\tat e (f:3)\n';
    const caused = judged([task({ state: 'FAILED', trace })]);
    assert.equal(caused.sentence, 'Task 0 has failed: Inner: no such column');
  });

  it('is UNASSIGNED without partitions or workers, and PAUSED or STOPPED by request', () => {
    assert.equal(judged([task({ partitions: [], lag: null })]).verdict, 'UNASSIGNED');
    assert.equal(judged([task({ state: 'UNASSIGNED' })]).verdict, 'UNASSIGNED');
    assert.equal(judged([task()], { state: 'PAUSED' }).verdict, 'PAUSED');
    assert.equal(judged([], { state: 'STOPPED' }).verdict, 'STOPPED');
  });

  it('is FAILED if a task of a PAUSED connector has failed, and PAUSED if its tasks only wait', () => {
    const failed = task({ task: 1, state: 'FAILED', trace: 'Error: no such table\n\tat x' });
    const { verdict, sentence, reasons } = judged([task({ state: 'PAUSED' }), failed], { state: 'PAUSED' });
    assert.deepEqual([verdict, sentence], ['FAILED', 'Task 1 has failed: no such table']);
    assert.deepEqual(reasons, [sentence]);
    const waiting = judged([task({ state: 'PAUSED', waiting: 2, waitedMs: 9000, lag: 900 })], { state: 'PAUSED' });
    assert.deepEqual([waiting.verdict, waiting.reasons], ['PAUSED', []]);
  });

  it('names workers that do not answer', () => {
    assert.deepEqual(judged([task()], { silentWorkers: ['b:8083'] }).reasons, ['Worker b:8083 does not answer.']);
    const silentTask = (id: number, worker: string) => task({ task: id, worker, lag: null, silentMs: 10 });
    const { sentence, reasons } = judged([task(), silentTask(1, 'b:8083'), silentTask(2, 'c:8083')], {
      silentWorkers: ['b:8083', 'c:8083'],
    });
    assert.equal(sentence, '1 task runs, 0 records behind; worker b:8083 and 1 other do not answer for 2 tasks.');
    assert.deepEqual(reasons, ['Worker b:8083 does not answer.', 'Worker c:8083 does not answer.']);
    assert.equal(
      judged([task(), silentTask(1, 'b:8083')], { silentWorkers: ['b:8083'] }).sentence,
      '1 task runs, 0 records behind; worker b:8083 does not answer for 1 task.',
    );
  });
});
