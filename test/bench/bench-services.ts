import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { LocalKafka } from '../../src/dev/kafka.ts';
import { kafkaVersion } from '../../src/dev/kafka/jars.ts';
import { LocalPostgres } from '../../src/dev/postgres.ts';
import { cpuSecondsWithChildren, parentOf } from './process-usage.ts';
import type { TableLayout } from './tables.ts';

interface Server {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

type Ending = () => Promise<unknown>;

/** Settings for 512 MB of buffers. The benchmark triggers checkpoints itself; the snapshot peer needs `logical`. */
const SERVER_SETTINGS = {
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  wal_level: 'logical',
  track_commit_timestamp: 'on',
};

/**
 * The broker and the database of a benchmark run: those that `BOOTSTRAP_SERVERS` and `PGHOST`, `PGPORT`, `PGUSER`,
 * `PGPASSWORD` name if these are set, and otherwise temporary ones. Without `PGDATABASE`, the run creates its own
 * database.
 */
export class BenchServices {
  readonly bootstrapServers: string;
  /** Version of the broker, which is printed with the description of the machine. */
  readonly broker: string;
  readonly database: Server & { readonly database: string };
  readonly #client: pg.Client;
  readonly #endings: readonly Ending[];
  #serverPid: Promise<number | undefined> | undefined;

  private constructor(broker: BenchBroker, database: BenchServices['database'], client: pg.Client, endings: Ending[]) {
    this.bootstrapServers = broker.bootstrapServers;
    this.broker = broker.description;
    this.database = database;
    this.#client = client;
    this.#endings = endings;
  }

  static async open(): Promise<BenchServices> {
    const endings: Ending[] = [];
    try {
      const broker = await openBroker(endings);
      const server = await openServer(endings);
      const database = { ...server, database: process.env['PGDATABASE'] ?? (await createDatabase(server, endings)) };
      const client = new pg.Client(database);
      await client.connect();
      endings.push(() => client.end());
      return new BenchServices(broker, database, client, endings);
    } catch (error) {
      await endAll(endings);
      throw error;
    }
  }

  async query(sql: string): Promise<{ rows: unknown[][] }> {
    return this.#client.query<unknown[]>({ text: sql, rowMode: 'array' });
  }

  async number(sql: string): Promise<number> {
    return Number((await this.query(sql)).rows[0]?.[0]);
  }

  /** Runs a checkpoint and creates an empty table, which replaces any existing table of that name. */
  async createTable(name: string, { columns, comments }: Pick<TableLayout, 'columns' | 'comments'>): Promise<void> {
    await this.dropTable(name);
    await this.query(`create table ${name} (${columns})`);
    for (const [column, comment] of Object.entries(comments)) {
      await this.query(`comment on column ${name}.${column} is ${pg.escapeLiteral(comment)}`);
    }
    await this.query('checkpoint');
  }

  async dropTable(name: string): Promise<void> {
    await this.query(`drop table if exists ${name}`);
  }

  /** Runs a command in psql. Resolves with its output; rejects with its error output. */
  async psql(command: string): Promise<string> {
    const { stdout } = await promisify(execFile)('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', '-c', command], {
      maxBuffer: 2 ** 28,
      env: { ...process.env, ...this.environment() },
    });
    return stdout;
  }

  /** Returns the addresses of the services as environment variables of libpq and of the peers' scripts. */
  environment(): Record<string, string> {
    const { host, port, user, password, database } = this.database;
    return {
      BOOTSTRAP: this.bootstrapServers,
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: user,
      PGPASSWORD: password,
      PGDATABASE: database,
    };
  }

  /** CPU seconds of all processes of the server since its start; NaN if the server is on another machine. */
  async databaseCpuSeconds(): Promise<number> {
    this.#serverPid ??= parentOf(await this.number('select pg_backend_pid()'), 'postgres');
    const pid = await this.#serverPid;
    return pid === undefined ? NaN : cpuSecondsWithChildren(pid);
  }

  async close(): Promise<void> {
    await endAll([...this.#endings]);
  }
}

interface BenchBroker {
  readonly bootstrapServers: string;
  readonly description: string;
}

async function openBroker(endings: Ending[]): Promise<BenchBroker> {
  const given = process.env['BOOTSTRAP_SERVERS'] ?? '';
  if (given !== '') return { bootstrapServers: given, description: `Kafka at ${given}` };
  const kafka = await LocalKafka.start();
  endings.push(() => kafka.discard());
  return { bootstrapServers: kafka.bootstrapServers, description: `Kafka ${kafkaVersion}` };
}

async function openServer(endings: Ending[]): Promise<Server> {
  const { PGHOST = '', PGPORT = '5432', PGUSER = 'postgres', PGPASSWORD = '' } = process.env;
  if (PGHOST !== '') return { host: PGHOST, port: Number(PGPORT), user: PGUSER, password: PGPASSWORD };
  const postgres = await LocalPostgres.start({ settings: SERVER_SETTINGS });
  endings.push(() => postgres.discard());
  const { host, port, user, password } = postgres;
  return { host, port, user, password };
}

async function createDatabase(server: Server, endings: Ending[]): Promise<string> {
  const name = `sluice_bench_${String(Date.now())}`;
  const maintain = async (sql: string): Promise<void> => {
    const client = new pg.Client({ ...server, database: 'postgres' });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await maintain(`create database ${name}`);
  endings.push(() => maintain(`drop database if exists ${name} with (force)`));
  return name;
}

async function endAll(endings: Ending[]): Promise<void> {
  for (const ending of endings.reverse()) await ending();
}
