import assert from 'node:assert/strict';
import { sinkConfig, sourceConfig } from './connectors.ts';
import type { KafkaTraffic } from './kafka-traffic.ts';
import { uniqueName, type TestDatabase } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Options of a connector; `undefined` removes one. */
type Options = Readonly<Record<string, string | undefined>>;

const ROWS = 100;

/** A pair of connectors, with its topic and its table. */
export interface ChainNames {
  readonly source: string;
  readonly sink: string;
  readonly topic: string;
  readonly table: string;
}

interface Pair {
  readonly names: ChainNames;
  readonly source: Record<string, string>;
  readonly sink: Record<string, string>;
}

/**
 * A source sends rows from a table of one database to a topic, and a sink writes them from the topic to the same table
 * of another database. The test has its own access to both; the connectors use the access in their options.
 */
export class RowChain {
  readonly #kafka: KafkaTraffic;
  readonly #databases: Readonly<Record<'from' | 'to', TestDatabase>>;

  constructor(kafka: KafkaTraffic, databases: Readonly<Record<'from' | 'to', TestDatabase>>) {
    this.#kafka = kafka;
    this.#databases = databases;
  }

  /** Returns the configurations of a pair for a new table with rows. */
  async pair(more: { readonly source: Options; readonly sink: Options }): Promise<Pair> {
    const table = uniqueName('chain').replaceAll('-', '_');
    await this.#ask('from', (sql) =>
      sql.run(
        `create table ${table} (k_timestamp timestamptz not null, id int8 primary key, site varchar(8) not null)`,
        `comment on column ${table}.site is 'sluice:primary-tag'`,
        `grant all on ${table} to public`,
      ),
    );
    await this.addRows(table);
    const topic = `${table}-${this.#databases.from.database}-${table}-json_db`;
    const source = sourceConfig(this.#databases.from, {
      mode: 'incrementing',
      'incrementing.column.name': 'id',
      'table.include': table,
      'topic.prefix': table,
    });
    const sink = sinkConfig(this.#databases.to, { topics: topic, 'protocol.type': 'json_db' });
    return {
      names: { source: `source-${table}`, sink: `sink-${table}`, topic, table },
      source: withOptions(source, more.source),
      sink: withOptions(sink, more.sink),
    };
  }

  /** Moves the rows of a new table through a pair of connectors, and leaves the pair running. */
  async move({ rest }: WorkerProcess, more: { readonly source: Options; readonly sink: Options }): Promise<ChainNames> {
    const { names, source, sink } = await this.pair(more);
    await rest.create(names.source, source);
    await this.#kafka.texts(names.topic, 1);
    await rest.create(names.sink, sink);
    await this.untilArrived(names.table).catch(async (error: unknown) => {
      const statuses = [await rest.status(names.source), await rest.status(names.sink)];
      throw new Error(JSON.stringify(statuses), { cause: error });
    });
    await Promise.all([rest.untilState(names.source, 'RUNNING', 1), rest.untilState(names.sink, 'RUNNING', 1)]);
    return names;
  }

  /** Adds rows to the source table. */
  async addRows(table: string): Promise<void> {
    await this.#ask('from', async (sql) => {
      const last = await sql.number(`select coalesce(max(id), 0) from ${table}`);
      await sql.run(
        `insert into ${table} select to_timestamp(1.7e9 + n), n, 'oslo'
         from generate_series(${String(last + 1)}, ${String(last + ROWS)}) n`,
      );
    });
  }

  /** Resolves when all rows of the table have arrived. Fails if other rows arrive. */
  async untilArrived(table: string): Promise<void> {
    const rows = (sql: SqlClient): Promise<readonly unknown[]> =>
      sql.rows(`select extract(epoch from k_timestamp)::int8, id, site from ${table} order by id`);
    const sent = await this.#ask('from', rows);
    await this.#ask('to', async (sql) => {
      await until(async () => (await rows(sql)).length >= sent.length, `the rows of ${table} have arrived`);
      assert.deepEqual(await rows(sql), sent);
    });
  }

  async remove({ rest }: WorkerProcess, { source, sink }: ChainNames): Promise<void> {
    await Promise.all([rest.delete(`/connectors/${source}`), rest.delete(`/connectors/${sink}`)]);
  }

  /** Runs a query with its own client, so that pairs can move rows concurrently. */
  async #ask<T>(side: 'from' | 'to', question: (sql: SqlClient) => Promise<T>): Promise<T> {
    const sql = new SqlClient(this.#databases[side]);
    try {
      return await question(sql);
    } finally {
      await sql.close();
    }
  }
}

function withOptions(config: Readonly<Record<string, string>>, options: Options): Record<string, string> {
  const entries = Object.entries({ ...config, ...options });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
