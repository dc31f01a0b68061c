import assert from 'node:assert/strict';
import type { LocalPostgres } from '../../src/dev/postgres.ts';
import { sinkConfig, sourceConfig } from './connectors.ts';
import { KafkaTraffic } from './kafka-traffic.ts';
import { logicalPostgres } from './log-source.ts';
import { database, onServer, uniqueName, type TestDatabase } from './services.ts';
import { SHORT_SESSION } from './sink-kills.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

const MARKER = 'copied_until';

/**
 * Queries tables with columns, types, defaults and keys. A sequence that is the default of a column counts as an
 * identity.
 */
const STRUCTURE = `select n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated,
    case when a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%' then 'identity'
      else pg_get_expr(d.adbin, d.adrelid) end,
    array_position(k.conkey, a.attnum)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema|sluice_ddl)' and c.relname !~ '^sluice_offsets'
  order by 1, 2, a.attnum`;

/**
 * A database and its copy with the same name on another server. A source reads the log of the first and writes `cdc_db`
 * to a topic; a sink executes the messages in the second.
 */
export class DatabaseCopy {
  readonly server: LocalPostgres;
  readonly original: TestDatabase;
  readonly copy: TestDatabase;
  readonly kafka: KafkaTraffic;
  readonly from: SqlClient;
  readonly to: SqlClient;
  readonly source = uniqueName('copy-source');
  readonly sink = uniqueName('copy-sink');
  readonly #prefix = uniqueName('copied');
  #markers = 0;

  private constructor(server: LocalPostgres, original: TestDatabase, copy: TestDatabase, kafka: KafkaTraffic) {
    this.server = server;
    this.original = original;
    this.copy = copy;
    this.kafka = kafka;
    this.from = new SqlClient(original);
    this.to = new SqlClient(copy);
  }

  static async create(): Promise<DatabaseCopy> {
    const [{ server, db }, copy, kafka] = await Promise.all([
      logicalPostgres(),
      database('copied'),
      KafkaTraffic.shared(),
    ]);
    const admin = new SqlClient(db);
    await admin.run(`create database ${copy.database}`);
    await admin.close();
    return new DatabaseCopy(server, onServer(server, copy.database), copy, kafka);
  }

  get topic(): string {
    return `${this.#prefix}-${this.original.database}-cdc_db`;
  }

  /** Starts the source on one worker and the sink on another; both may be the same worker. */
  async start(sourceWorker: WorkerProcess, sinkWorker: WorkerProcess): Promise<void> {
    await this.from.run(`create table ${MARKER} (n int primary key)`);
    await this.kafka.createTopic(this.topic);
    const source = sourceConfig(this.original, {
      'read.method': 'log',
      'out.format': 'cdc_db',
      'topic.prefix': this.#prefix,
      'topic.per.stable': 'false',
      'log.ddl': 'true',
    });
    delete source['poll.interval.ms'];
    await sourceWorker.rest.create(this.source, source);
    const sink = sinkConfig(this.copy, {
      topics: this.topic,
      'protocol.type': 'cdc_db',
      delivery: 'exactly-once',
      'consumer.override.isolation.level': 'read_committed',
      ...SHORT_SESSION,
    });
    await sinkWorker.rest.create(this.sink, sink);
  }

  /** Waits until the copy contains everything that was committed before the call. */
  async untilCopied(timeoutMs = 20_000): Promise<void> {
    const n = ++this.#markers;
    await this.from.run(`insert into ${MARKER} values (${String(n)})`);
    await until(
      async () => (await this.to.number(`select count(*) from ${MARKER} where n = ${String(n)}`)) === 1,
      `change ${String(n)} is in the copy`,
      { timeoutMs, everyMs: 100 },
    );
  }

  /** Compares the tables and all their rows. Resolves with the number of rows. */
  async assertEqual(): Promise<number> {
    const structure = await this.from.rows(STRUCTURE);
    assert.deepEqual(await this.to.rows(STRUCTURE), structure, 'the tables are those of the original');
    const tables = new Set(structure.map(([schema, table]) => `"${schema ?? ''}"."${table ?? ''}"`));
    let count = 0;
    for (const table of tables) {
      const rows = `select t::text from ${table} t order by 1`;
      const expected = (await this.from.rows(rows)).map(([row]) => row);
      assert.deepEqual(
        (await this.to.rows(rows)).map(([row]) => row),
        expected,
        `the rows of ${table} are those of the original`,
      );
      count += expected.length;
    }
    return count;
  }

  async close(): Promise<void> {
    await Promise.all([this.from.close(), this.to.close()]);
    await this.server.discard();
  }
}
