import assert from 'node:assert/strict';
import { dbSink } from '../../plugins/db-sink/plugin.ts';
import { DeliveryClaims } from '../../plugins/db-sink/delivery-claims.ts';
import { DeliveryOffsets, FencedError } from '../../plugins/db-sink/delivery-offsets.ts';
import { DeliveryStore } from '../../plugins/db-sink/delivery-store.ts';
import { MessageDecoder } from '../../plugins/db-sink/record-decoder.ts';
import { Retries } from '../../plugins/db-sink/retries.ts';
import { TableWriter } from '../../plugins/db-sink/table-writer.ts';
import { WaitingRecords, type SealedBatch } from '../../plugins/db-sink/waiting-records.ts';
import type { PartitionOffset, SinkTaskContext } from '../../src/connect/api.ts';
import type { SinkRecord } from '../../src/data/record.ts';
import type { Executor } from '../../plugins/database/executor/api.ts';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import { RetriableError } from '../../src/errors.ts';
import { CdcDbDecoder } from '../../plugins/database/formats/json-db/cdc-db.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { TcpProxy } from '../support/proxy.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { DatabaseFixture } from './database-fixture.ts';

const PARTITION = { topic: 'events', partition: 0 };
const NEVER = new AbortController().signal;

/** Changes from offset `from` on. */
function batch(from: number, messages: readonly object[]): SealedBatch {
  const decoder = new MessageDecoder(() => new CdcDbDecoder());
  const records = new WaitingRecords();
  for (const [index, message] of messages.entries()) {
    const place = { ...PARTITION, offset: from + index };
    const nothing = { keySchema: null, key: null, valueSchema: null, headers: [], timestamp: null } as const;
    const value = JSON.stringify({ database: 'd', table: 't', ...message });
    const record: SinkRecord = {
      ...place,
      ...nothing,
      value,
      timestampType: 'NoTimestampType',
      original: place,
      consumed: place,
    };
    records.add(record);
    decoder.add(record, { kind: 'record', ...place });
  }
  return { records, decoded: decoder.take() };
}

const row = (n: number) => ({ kind: 'insert', columnnames: ['n'], columntypes: ['int8'], columnvalues: [[n]] });
const rows = (from: number, ...numbers: number[]) => batch(from, numbers.map(row));

/** A task's part in delivery, without a task. */
class Owner {
  readonly claims: DeliveryClaims;
  readonly store: DeliveryStore;
  readonly refused: number[] = [];
  readonly sought: number[] = [];
  drops = 0;
  /** The identity of the log, as the consumer knows it. */
  log: { topicId?: string; leaderEpoch?: number } = {};
  onKept = (offset: PartitionOffset): PartitionOffset => offset;
  onRefused: () => Promise<void> = () => Promise.resolve();

  constructor(executor: Executor, position = 0) {
    const offsets = new DeliveryOffsets(executor, { name: 'offsets' }, 'group');
    const context = {
      connectorName: 'c',
      taskIndex: 0,
      logger: silentLogger,
      signal: NEVER,
      position: () => position,
      identified: (offset: PartitionOffset) => ({ ...offset, ...this.log }),
      kept: (offsets: readonly PartitionOffset[]) => Promise.resolve(offsets.map((each) => this.onKept(each))),
      seek: (places: readonly { offset: number }[]) => this.sought.push(...places.map(({ offset }) => offset)),
      requestCommit: () => undefined,
    } as unknown as SinkTaskContext;
    const limits = { maxRetries: 3, retryBackoffMs: 1, connectionAttempts: 20, connectionBackoffMs: 50 };
    const retries = new Retries(executor, limits, { signal: NEVER, logger: silentLogger, mayWrite: () => true });
    const growth = { create: false, add: false, widen: false };
    const policy = { dedupRule: 'override' as const, unknownColumns: 'fault' as const, insertMode: undefined, growth };
    const writer = new TableWriter(executor, { policy, database: 'd' }, retries, silentLogger);
    const dropWrites = () => {
      this.drops++;
      return Promise.resolve();
    };
    this.claims = new DeliveryClaims(offsets, context, retries, dropWrites, 300);
    const refuse = async (record: SinkRecord) => {
      this.refused.push(record.offset);
      await this.onRefused();
    };
    this.store = new DeliveryStore(offsets, this.claims, writer, retries, refuse);
  }

  static async of(executor: Executor, position = 0, log: Owner['log'] = {}, onKept?: Owner['onKept']): Promise<Owner> {
    await new DeliveryOffsets(executor, { name: 'offsets' }, 'group').ensureTable();
    const owner = new Owner(executor, position);
    owner.log = log;
    if (onKept !== undefined) owner.onKept = onKept;
    await owner.claims.open([PARTITION]);
    return owner;
  }
}

describe('offsets in the transaction of the rows', () => {
  let fixture: DatabaseFixture;
  let executor: Executor;

  before(async () => {
    fixture = await DatabaseFixture.create();
    ({ executor } = fixture);
  });

  after(() => fixture.close());

  beforeEach(() =>
    fixture.run('DROP TABLE IF EXISTS t, u, offsets', 'CREATE TABLE t (n int8 CONSTRAINT lucky CHECK (n <> 13))'),
  );

  const stored = async () => (await fixture.rows('SELECT n FROM t ORDER BY n')).flat().map(Number);
  const offset = async () => Number((await fixture.rows('SELECT next_offset FROM offsets'))[0]?.[0]);

  it('move with the rows, and the next owner continues from them', async () => {
    const first = await Owner.of(executor, 5);
    assert.deepEqual([first.sought, await offset()], [[5], 5]);
    await first.store.store(rows(5, 1, 2), NEVER);
    assert.deepEqual([await stored(), await offset()], [[1, 2], 7]);
    // The group's offset is older, or newer: the table counts.
    const second = await Owner.of(executor, 100);
    assert.deepEqual(second.sought, [7]);
    await second.store.store(rows(7, 3), NEVER);
    assert.deepEqual([await stored(), await offset()], [[1, 2, 3], 8]);
  });

  it('cannot be moved by a fenced owner, whose rows are not written', async () => {
    const first = await Owner.of(executor);
    await first.store.store(rows(0, 1), NEVER);
    const second = await Owner.of(executor);
    const isFenced = (error: unknown) =>
      error instanceof FencedError &&
      error.message.includes('topic events, partition 0, of group group, was claimed by task 0 of c, ');
    await assert.rejects(first.store.store(rows(1, 2), NEVER), isFenced);
    await assert.rejects(first.store.move([{ ...PARTITION, offset: 9 }], NEVER), isFenced);
    await second.store.store(rows(1, 3), NEVER);
    assert.deepEqual([await stored(), await offset()], [[1, 3], 2]);
    await fixture.run('DELETE FROM offsets');
    await assert.rejects(second.store.store(rows(2, 4), NEVER), /was deleted from table offsets/);
    const third = await Owner.of(executor, 2);
    await fixture.run('UPDATE offsets SET next_offset = 50');
    await assert.rejects(third.store.store(rows(2, 4), NEVER), /was changed from 2 to 50 in table offsets/);
    assert.deepEqual(await stored(), [1, 3]);
  });

  it('are claimed from a stuck task of the connector by terminating its transaction (U18)', async () => {
    await Owner.of(executor);
    const stopped = fixture
      .open({ poolSize: 1 }, '?application_name=sluice:c-11')
      .session((session) =>
        session.transaction(async () => {
          await session.query('UPDATE offsets SET next_offset = next_offset');
          await session.query('INSERT INTO t VALUES (1)');
          await session.query('SELECT pg_sleep(30)');
        }),
      )
      .catch((error: unknown) => error);
    await until(
      async () => (await fixture.rows(`SELECT 1 FROM pg_locks WHERE relation = 't'::regclass`)).length > 0,
      'it holds its locks',
    );
    const began = performance.now();
    const second = await Owner.of(fixture.open({}, '?application_name=sluice:c-2'));
    await until(
      () =>
        second.claims.ready().then(
          () => true,
          () => second.claims.isHeld,
        ),
      'the next owner has them',
    );
    assert.ok(performance.now() - began < 8000);
    assert.match(String(await stopped), /terminat/);
    assert.deepEqual(await stored(), []);
  });

  it('after fencing are claimed again if the partitions remain assigned', async () => {
    const first = await Owner.of(executor);
    await Owner.of(executor);
    const fence = await first.store.store(rows(0, 1), NEVER).catch((error: unknown) => error);
    first.claims.fenced(fence as FencedError);
    await assert.rejects(first.claims.ready(), RetriableError);
    const held = () =>
      first.claims.ready().then(
        () => true,
        () => false,
      );
    await until(held, 'they are held again');
    assert.deepEqual([first.sought, first.drops], [[0, 0], 2]);
    await first.store.store(rows(0, 1), NEVER);
    assert.deepEqual(await stored(), [1]);
  });

  it('show whether a commit without a response succeeded, so that nothing is written twice', async () => {
    await fixture.run(
      `CREATE OR REPLACE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END'`,
      `CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON t INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dawdle()`,
    );
    const proxy = await TcpProxy.start(fixture.access);
    const url = new URL(fixture.access.url);
    url.port = String(proxy.port);
    const proxied = openExecutor(parseConnectionUrl(url.href), { logger: silentLogger });
    try {
      const owner = await Owner.of(proxied);
      const storing = owner.store.store(rows(0, 1, 13), NEVER);
      const committing = `SELECT 1 FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active' AND datname = current_database()`;
      await until(async () => (await fixture.rows(committing)).length > 0, 'it commits', { everyMs: 10 });
      proxy.cut();
      await storing;
      assert.deepEqual([await stored(), await offset()], [[1], 2]);
      assert.deepEqual(owner.refused, [1]);
      await owner.store.store(rows(2, 2), NEVER);
      assert.deepEqual([await stored(), await offset()], [[1, 2], 3]);
    } finally {
      await proxied.close();
      await proxy.close();
    }
  });

  it('move with the valid rows if others are refused, also by a deferred constraint', async () => {
    await fixture.run('CREATE TABLE u (n int8 PRIMARY KEY)', 'INSERT INTO u VALUES (1), (2)');
    await fixture.run('ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES u DEFERRABLE INITIALLY DEFERRED');
    const owner = await Owner.of(executor);
    await owner.store.store(rows(0, 1, 7, 2), NEVER);
    assert.deepEqual([await stored(), await offset(), owner.refused], [[1, 2], 3, [1]]);
  });

  it('do not move, and no row is written, if a refused record fails the task', async () => {
    const owner = await Owner.of(executor);
    owner.onRefused = () => Promise.reject(new Error('Tolerance exceeded'));
    await assert.rejects(owner.store.store(rows(0, 1, 13, 2, 13), NEVER), /Tolerance exceeded/);
    assert.deepEqual([await stored(), await offset(), owner.refused], [[], 0, [1]]);
  });

  it('move with all valid rows, and a record is reported once even if the transaction is repeated', async () => {
    await fixture.run(
      'DROP SEQUENCE IF EXISTS commits',
      'CREATE SEQUENCE commits',
      `CREATE OR REPLACE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('commits') <= 2 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '40001'; END IF; RETURN NULL; END $$`,
      `CREATE CONSTRAINT TRIGGER conflict AFTER INSERT ON t INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.n = 1) EXECUTE FUNCTION conflict()`,
    );
    const owner = await Owner.of(executor);
    const writing: unknown[] = [];
    // By then the rejected rows are known: the good rows are stored, and none of the bad ones.
    owner.onRefused = async () => {
      const held = `SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND mode = 'RowExclusiveLock'`;
      writing.push((await fixture.rows(held))[0]?.[0], await stored());
    };
    await owner.store.store(rows(0, 1, 13, 2, 13, 3), NEVER);
    assert.deepEqual([await stored(), await offset(), owner.refused], [[1, 2, 3], 5, [1, 3]]);
    assert.deepEqual(writing, ['1', [], '1', []]);
  });

  it('do not move while the database is unavailable; after the retries, the error names the records and the cause', async () => {
    await fixture.run(
      `CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
      `CREATE TRIGGER full_disk BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION full_disk()`,
    );
    const owner = await Owner.of(executor, 7);
    const place = '2 records, the first from topic events, partition 0, offset 7,';
    await assert.rejects(owner.store.store(rows(7, 1, 2), NEVER), {
      scope: 'infrastructure',
      message: `${place} could not be written after 3 retries: could not extend file`,
    });
    assert.deepEqual([await stored(), await offset(), owner.refused], [[], 7, []]);
    await fixture.run('DROP TRIGGER full_disk ON t');
    await owner.store.store(rows(7, 1, 2), NEVER);
    assert.deepEqual([await stored(), await offset()], [[1, 2], 9]);
  });

  it('move in one transaction with statements, unless a statement cannot run in one', async () => {
    const owner = await Owner.of(executor);
    const statement = (kind: string, text: string) => ({ kind, schema: 'public', statement: text });
    const changes = batch(0, [
      row(1),
      statement('alter', 'ALTER TABLE t ADD COLUMN m int8'),
      statement('update', 'UPDATE t SET m = n'),
      row(13),
      statement('create', 'CREATE INDEX CONCURRENTLY t_n ON t (n)'),
      statement('create', 'CREATE INDEX CONCURRENTLY nowhere ON missing (n)'),
      row(2),
    ]);
    await owner.store.store(changes, NEVER);
    assert.deepEqual(await fixture.rows('SELECT n, m FROM t ORDER BY n'), [
      ['1', '1'],
      ['2', null],
    ]);
    assert.deepEqual([await offset(), owner.refused], [7, [3, 5]]);
    assert.equal((await fixture.rows(`SELECT to_regclass('t_n')`))[0]?.[0], 't_n');
  });

  const log = async () =>
    (await fixture.rows('SELECT next_offset, topic_id, leader_epoch, epoch_offset FROM offsets')).map((each) =>
      each.join(),
    );

  it('keep the id of their topic and the epoch of their leader, which the next owner compares with Kafka (L1, L2)', async () => {
    const first = await Owner.of(executor, 5, { topicId: 'old', leaderEpoch: 3 });
    assert.deepEqual(await log(), ['5,old,3,5']);
    first.log = { topicId: 'old', leaderEpoch: 4 };
    await first.store.store(rows(5, 1, 2), NEVER);
    assert.deepEqual(await log(), ['7,old,4,7']);
    const asked: PartitionOffset[] = [];
    const onKept = (kept: PartitionOffset): PartitionOffset => {
      asked.push(kept);
      return { ...PARTITION, offset: 0, topicId: 'new', leaderEpoch: 0 };
    };
    const second = await Owner.of(executor, 100, { topicId: 'new', leaderEpoch: 0 }, onKept);
    assert.deepEqual(asked, [{ ...PARTITION, offset: 7, topicId: 'old', leaderEpoch: 4 }]);
    assert.deepEqual([second.sought, await log()], [[0], ['0,new,0,0']]);
    await second.store.store(rows(0, 3), NEVER);
    assert.deepEqual([await stored(), await log()], [[1, 2, 3], ['1,new,0,1']]);
    // An earlier version, or a person, updates only the offset. Then the stored epoch does not count.
    await fixture.run('UPDATE offsets SET next_offset = 9');
    const later: PartitionOffset[] = [];
    await Owner.of(executor, 100, {}, (kept) => {
      later.push(kept);
      return kept;
    });
    assert.deepEqual(later, [{ ...PARTITION, offset: 9, topicId: 'new', leaderEpoch: undefined }]);
  });

  it('in a table of an earlier version are attributed to the existing topic and get its id (L1)', async () => {
    const old = `CREATE TABLE offsets (consumer_group text NOT NULL, topic text NOT NULL, partition int4 NOT NULL,
      next_offset int8 NOT NULL, owner text NOT NULL, PRIMARY KEY (consumer_group, topic, partition))`;
    await fixture.run(old, `INSERT INTO offsets VALUES ('group', 'events', 0, 7, 'before')`);
    const owner = await Owner.of(executor, 0, { topicId: 'now', leaderEpoch: 2 }, (kept) => ({
      ...kept,
      topicId: 'now',
    }));
    assert.deepEqual([owner.sought, await log()], [[7], ['7,now,,7']]);
    await owner.store.store(rows(7, 1), NEVER);
    assert.deepEqual(await log(), ['8,now,2,8']);
  });

  it('are kept without topic id, with a warning, if the table cannot be extended (L1)', async () => {
    const user = uniqueName('offsets').replaceAll('-', '_');
    await fixture.run(
      `CREATE ROLE ${user} LOGIN PASSWORD 'offsets'`,
      `CREATE TABLE offsets (consumer_group text NOT NULL, topic text NOT NULL, partition int4 NOT NULL,
        next_offset int8 NOT NULL, owner text NOT NULL, PRIMARY KEY (consumer_group, topic, partition))`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON offsets TO ${user}`,
    );
    const url = new URL(fixture.access.url);
    [url.username, url.password] = [user, 'offsets'];
    const limited = openExecutor(parseConnectionUrl(url.href), { logger: silentLogger });
    try {
      const offsets = new DeliveryOffsets(limited, { name: 'offsets' }, 'group');
      assert.match(
        (await offsets.ensureTable()) ?? '',
        /^Table offsets could not be extended by the columns topic_id text, .* \(must be owner of table/,
      );
      const from: PartitionOffset[] = [{ ...PARTITION, offset: 5, topicId: 'id', leaderEpoch: 1 }];
      const claimed = await offsets.claim('me', from, {});
      assert.equal(claimed[0]?.offset, 5);
      await offsets.correct('me', claimed, from, {});
      const move = { ...PARTITION, from: 5, to: 6, topicId: 'id', leaderEpoch: 1 };
      assert.equal(await limited.atomically((transaction) => offsets.move(transaction, 'me', [move], {})), 'moved');
      assert.equal(await offset(), 6);
    } finally {
      await limited.close();
      await fixture.run(`DROP OWNED BY ${user}`, `DROP ROLE ${user}`);
    }
  });

  it('are altered for a stopped connector, and deleted by one that is no longer exactly-once', async () => {
    const config = sinkConfig(fixture.access, {
      name: 'x',
      topics: 'events',
      'protocol.type': 'line_lp',
      delivery: 'exactly-once',
      'offsets.table': 'offsets',
      'consumer.override.group.id': 'group',
    });
    const owner = await Owner.of(executor, 40);
    assert.equal(
      await dbSink.alterOffsets?.(config, [
        { ...PARTITION, offset: 7 },
        { ...PARTITION, partition: 1, offset: null },
      ]),
      true,
    );
    await assert.rejects(owner.store.store(rows(40, 1), NEVER), /was claimed by nobody: the offset was set/);
    const next = await Owner.of(executor, 40);
    assert.deepEqual(next.sought, [7]);
    assert.equal(await dbSink.alterOffsets?.(config, [{ ...PARTITION, offset: null }]), true);
    assert.deepEqual((await Owner.of(executor, 40)).sought, [40]);
    assert.equal(await dbSink.alterOffsets?.(config, []), true);
    assert.deepEqual(await fixture.rows('SELECT * FROM offsets'), []);
    assert.equal(await dbSink.alterOffsets?.({ ...config, delivery: 'at-least-once' }, []), true);
  });
});
