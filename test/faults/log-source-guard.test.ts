import assert from 'node:assert/strict';
import { logSourceConfig } from '../support/log-source.ts';
import { logStage } from '../support/log-source-stage.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';

const LIMIT = 500_000;

describe('the limit for the log that the server keeps for the log source', function () {
  const stage = logStage();

  /** A started task, which is not polled while more is written than the limit. */
  async function behind(action: string) {
    const { db, sql } = stage;
    const table = uniqueName('t').replaceAll('-', '_');
    await sql.run(`create table ${table} (n int, pad text)`, `insert into ${table} values (0, 'first')`);
    const config = logSourceConfig(db, {
      'table.include.list': `public.${table}`,
      'status.update.interval.ms': '50',
      'log.max.lag.bytes': String(LIMIT),
      'log.max.lag.action': action,
    });
    const run = stage.newRun();
    await run.start(config);
    await run.pollUntil(() => run.records.length === 1, 'the snapshot is sent');
    await run.pollUntil(() => run.metric('Connected') === 1, 'the stream is open');
    await sql.run(`insert into ${table} select n, repeat('x', 100) from generate_series(1, 5000) n`);
    await until(() => run.task.parts?.()[0]?.state === 'FAILED', 'the limit is exceeded');
    const slot = config['slot.name'] ?? '';
    return {
      run,
      slot,
      slots: () => sql.number(`select count(*) from pg_replication_slots where slot_name = '${slot}'`),
    };
  }

  it('says what holds the log, and continues', async () => {
    const { run, slot } = await behind('warn');
    const [part] = run.task.parts?.() ?? [];
    assert.equal(part?.name, `slot ${slot}`);
    assert.match(
      part.error ?? '',
      /^the server keeps .* of its log for it, more than log\.max\.lag\.bytes=500000: this connector has not confirmed the last /,
    );
    assert.ok((run.metric('kept_bytes') ?? 0) > LIMIT);
    await run.pollUntil(() => run.records.length === 5001, 'the rows are sent nevertheless');
  });

  it('fails the task', async () => {
    const { run, slots } = await behind('fail');
    await assert.rejects(run.poll(), /Slot \w+: the server keeps .*, more than log\.max\.lag\.bytes=500000/);
    assert.equal(await slots(), 1);
  });

  it('fails the task and drops the slot', async () => {
    const { run, slots } = await behind('drop-slot');
    await assert.rejects(run.poll(), /The slot is dropped; its changes are lost\.$/);
    assert.equal(await slots(), 0);
  });

  it('counts with the names of Debezium', async () => {
    const { run } = await behind('warn');
    await run.pollUntil(() => run.records.length === 5001, 'the rows are sent');
    const named = ['TotalNumberOfEventsSeen', 'TotalNumberOfCreateEventsSeen', 'NumberOfEventsFiltered'];
    assert.deepEqual(
      named.map((name) => run.metric(name)),
      [5000, 5000, 0],
    );
    const ofSnapshot = [
      'SnapshotCompleted',
      'SnapshotRunning',
      'TotalTableCount',
      'RemainingTableCount',
      'RowsScanned',
    ];
    assert.deepEqual(
      ofSnapshot.map((name) => run.metric(name)),
      [1, 0, 1, 0, 1],
    );
    assert.equal(run.metric('NumberOfCommittedTransactions'), 1);
    assert.equal(run.metric('QueueTotalCapacity'), 8192);
    assert.ok((run.metric('MilliSecondsBehindSource') ?? -1) >= 0);
    assert.ok((run.metric('LastTransactionId') ?? 0) > 0);
  });
});
