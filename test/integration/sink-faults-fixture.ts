import type { TestMessage } from '../support/kafka-traffic.ts';
import { TcpProxy } from '../support/proxy.ts';
import type { TestDatabase } from '../support/services.ts';
import { SinkFixture } from './sink-fixture.ts';

export const AT_MS = 1_700_000_000_000;

/** A message of the format with one row of this number in table `table`. */
export const MESSAGES: Readonly<Record<string, (table: string, n: number, database: string) => string>> = {
  json_db: (table, n) =>
    JSON.stringify({
      table,
      columns: [
        { name: 'ts', type: 'TIMESTAMPTZ' },
        { name: 'n', type: 'INT8' },
      ],
      tags: [{ name: 'site', type: 'VARCHAR', length: 8, primary: true }],
      data: [{ ts: AT_MS + n, n, site: 'a' }],
    }),
  cdc_db: (table, n, name) =>
    JSON.stringify({
      kind: 'insert',
      database: name,
      table,
      columnnames: ['ts', 'n', 'site'],
      columntypes: ['timestamptz', 'int8', 'varchar'],
      columnvalues: [[AT_MS + n, n, 'a']],
    }),
  json_tsd: (table, n) =>
    JSON.stringify([{ metric: `${table}.n`, timestamp: AT_MS + n, value: n, tags: { site: 'a' } }]),
  line_tsd: (table, n) => `${table}.n ${String(AT_MS + n)} ${String(n)} site=a`,
  line_lp: (table, n) => `${table},site=a n=${String(n)}i ${String(AT_MS + n)}`,
};

/** Sinks of tables that refuse the number 13. */
export class SinkFaultsFixture extends SinkFixture {
  static override async create(): Promise<SinkFaultsFixture> {
    return new SinkFaultsFixture('faults', await SinkFixture.services('faults'));
  }

  async table(name: string): Promise<void> {
    await this.sql.run(
      `create table ${name} (ts timestamptz(3), n int8 check (n <> 13), site varchar(8), primary key (ts, site))`,
      `comment on column ${name}.site is 'sluice:primary-tag'`,
    );
  }

  /** Starts a sink of line_lp, unless the options name another format, into this database or `target`. */
  async startNumbers(topic: string, more: Record<string, string> = {}, target = this.db): Promise<string> {
    const isPoint = more['protocol.type']?.endsWith('tsd') === true;
    const precision: Record<string, string> = isPoint ? {} : { 'timestamp.precision': 'ms' };
    return this.start(topic, { 'protocol.type': 'line_lp', ...precision, ...more }, { db: target });
  }

  async numbers(table: string): Promise<number[]> {
    return (await this.sql.rows(`select n from ${table} order by n`)).flat().map(Number);
  }
}

export function line(table: string, n: number): TestMessage {
  return { value: MESSAGES.line_lp?.(table, n, '') ?? '' };
}

export interface ProxiedDatabase {
  readonly proxy: TcpProxy;
  /** The database as clients reach it through the proxy. */
  readonly access: TestDatabase;
}

export async function behindProxy(db: TestDatabase): Promise<ProxiedDatabase> {
  const proxy = await TcpProxy.start(db);
  return { proxy, access: { ...db, host: '127.0.0.1', port: proxy.port } };
}
