import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onServer, ownPostgres, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { withDatabaseApi } from './database-api.ts';
import type { Repeat } from './repeat.ts';
import { findTool, runTool, type ToolRun } from './run-tool.ts';

const DEFAULT_POINTS = 10_000;
const CLIENTS = fileURLToPath(new URL('clients', import.meta.url));

interface Surroundings {
  readonly url: URL;
  readonly access: TestDatabase;
  readonly directory: string;
  /** Host, port, user, password, database and points, as arguments of the programs. */
  readonly parameters: readonly string[];
  readonly count: number;
}

interface Client {
  /**
   * The program in PATH. If absent, only the variable can name the program, because the one in PATH may lack the
   * packages.
   */
  readonly tool?: string;
  /** Environment variable with the path of the program if it is not in PATH. */
  readonly variable: string;
  readonly table: string;
  /** True if the client writes into the default database instead of its own. */
  readonly isDefault?: boolean;
  readonly run: (command: string, surroundings: Surroundings) => Promise<ToolRun>;
}

const python =
  (file: string) =>
  (command: string, { parameters }: Surroundings): Promise<ToolRun> =>
    runTool(command, [path.join(CLIENTS, file), ...parameters]);

const inPython = (file: string, table: string): Client => ({
  variable: 'CLIENTS_PYTHON',
  table,
  run: python(file),
});

const telegraf =
  (output: (surroundings: Surroundings) => string) =>
  async (command: string, surroundings: Surroundings): Promise<ToolRun> => {
    const file = await writeTelegraf(surroundings.directory, surroundings.count, [output(surroundings)]);
    return runTool(command, ['--config', file, '--once'], { timeoutMs: 120_000 });
  };

async function writeTelegraf(directory: string, count: number, output: readonly string[]): Promise<string> {
  // The output for OpenTSDB has times in seconds.
  const lines = Array.from(
    { length: count },
    (_, i) => `telegraf,host=h${String(i % 7)} n=${String(i)}i ${String(i + 1)}000000000`,
  );
  await writeFile(path.join(directory, 'lines'), `${lines.join('\n')}\n`);
  const file = path.join(directory, 'telegraf.conf');
  const agent = [
    '[agent]',
    '  interval = "2s"',
    '  flush_interval = "1s"',
    '  metric_batch_size = 1000',
    '  metric_buffer_limit = 1000000',
  ];
  const input = ['[[inputs.file]]', `  files = ["${path.join(directory, 'lines')}"]`, '  data_format = "influx"'];
  const text = [...agent, '  omit_hostname = true', '  precision = "1ns"', ...input, ...output];
  await writeFile(file, `${text.join('\n')}\n`);
  return file;
}

/**
 * Unchanged client programs, which write as their users have them write. A program is skipped with a message if its
 * tool is missing.
 */
const ALL_CLIENTS: Readonly<Record<string, Client>> = {
  'influxdb (Python, InfluxDB 1)': inPython('influxdb1.py', 'python1'),
  'influxdb-client (Python, InfluxDB 2)': inPython('influxdb2.py', 'python2'),
  'influxdb3-python (InfluxDB 3)': { ...inPython('influxdb3.py', 'python3'), isDefault: true },
  'opentsdb-py': { ...inPython('opentsdb_points.py', 'opentsdb.py'), isDefault: true },
  'influxdb1-client (Go)': {
    tool: 'go',
    variable: 'CLIENTS_GO',
    table: 'golang',
    run: (command, { parameters }) => runTool(command, ['run', '.', ...parameters], { cwd: path.join(CLIENTS, 'go') }),
  },
  'influxdb-java': {
    tool: 'mvn',
    variable: 'CLIENTS_MVN',
    table: 'java',
    run: (command, { parameters, directory }) =>
      runTool(
        command,
        [
          '-q',
          '-B',
          `-DbuildDirectory=${directory}`,
          'compile',
          'org.codehaus.mojo:exec-maven-plugin:3.5.0:java',
          '-Dexec.mainClass=Points',
          `-Dexec.args=${parameters.join(' ')}`,
        ],
        { cwd: path.join(CLIENTS, 'java') },
      ),
  },
  'Telegraf, outputs.influxdb': {
    tool: 'telegraf',
    variable: 'CLIENTS_TELEGRAF',
    table: 'telegraf',
    run: telegraf(
      ({ url, access, parameters }) =>
        `[[outputs.influxdb]]\n  urls = ["${url.origin}"]\n  database = "${parameters[4] ?? ''}"\n  username = "${access.user}"\n  password = "${access.password}"\n`,
    ),
  },
  'Telegraf, outputs.influxdb_v2': {
    tool: 'telegraf',
    variable: 'CLIENTS_TELEGRAF',
    table: 'telegraf',
    isDefault: true,
    run: telegraf(
      ({ url, access }) =>
        `[[outputs.influxdb_v2]]\n  urls = ["${url.origin}"]\n  token = "${access.user}:${access.password}"\n  organization = "any"\n  bucket = "${access.database}"\n`,
    ),
  },
  'Telegraf, outputs.opentsdb': {
    tool: 'telegraf',
    variable: 'CLIENTS_TELEGRAF',
    table: 'telegraf_n',
    isDefault: true,
    run: telegraf(
      ({ url, access }) =>
        `[[outputs.opentsdb]]\n  host = "http://${access.user}:${access.password}@${url.hostname}"\n  port = ${url.port}\n  http_batch_size = 500\n  http_path = "/api/put"\n`,
    ),
  },
};

/** Clients of other databases write points through the database HTTP API. The rows are counted in the database. */
export const httpClients: Repeat = {
  unit: 'points for each client',
  defaultCount: DEFAULT_POINTS,
  async run({ count = DEFAULT_POINTS, print }): Promise<boolean> {
    let failed = 0;
    for (const [name, client] of Object.entries(ALL_CLIENTS)) {
      const command = findTool(client.tool, client.variable);
      if (command === undefined) {
        print(
          `${name}: skipped, ${client.tool === undefined ? '' : `no ${client.tool} in PATH, and `}${client.variable} is not set`,
        );
        continue;
      }
      const told = await writePoints(client, command, count);
      if (told.stored !== count) failed += 1;
      print(`${name}: ${String(told.stored)} of ${String(count)} points in ${(told.tookMs / 1000).toFixed(1)} s`);
      if (told.stored !== count) print(told.output);
    }
    const early = await telegrafBeforeDatabase(count);
    print(
      `Telegraf before its database: ${early === undefined ? 'skipped, no telegraf' : `${String(early)} of ${String(count)} points`}`,
    );
    return failed === 0 && (early === undefined || early === count);
  },
};

/**
 * Telegraf writes into a database that does not exist, and the server starts after Telegraf. Resolves with the number
 * of stored points.
 */
async function telegrafBeforeDatabase(count: number): Promise<number | undefined> {
  const command = findTool('telegraf', 'CLIENTS_TELEGRAF');
  if (command === undefined) return undefined;
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-clients-'));
  const postgres = await ownPostgres();
  const ending = new AbortController();
  const access = onServer(postgres, 'postgres');
  const sql = new SqlClient({ ...access, database: 'early' });
  try {
    await postgres.kill();
    return await withDatabaseApi(async ({ url }) => {
      const file = await writeTelegraf(directory, count, [
        '[[outputs.influxdb]]',
        `  urls = ["${url.origin}"]`,
        '  database = "early"',
        `  username = "${access.user}"`,
        `  password = "${access.password}"`,
      ]);
      const running = runTool(command, ['--config', file], { signal: ending.signal });
      // Before the server starts, Telegraf has already requested its database and has failed to write.
      await delay(5_000);
      await postgres.start();
      const stored = (): Promise<number> => sql.number('SELECT count(*) FROM telegraf').catch(() => 0);
      await until(async () => (await stored()) >= count, 'all points are stored', { timeoutMs: 60_000 }).catch(
        () => undefined,
      );
      const found = await stored();
      ending.abort();
      await running;
      return found;
    }, access);
  } finally {
    ending.abort();
    await sql.close();
    await postgres.discard();
    await rm(directory, { recursive: true, force: true });
  }
}

async function writePoints(
  { table, isDefault, run }: Client,
  command: string,
  count: number,
): Promise<{ stored: number; tookMs: number; output: string }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-clients-'));
  try {
    return await withDatabaseApi(async ({ url, access }) => {
      const own = isDefault === true ? access.database : uniqueName('made').replaceAll('-', '_');
      const parameters = [url.hostname, url.port, access.user, access.password, own, String(count)];
      const began = performance.now();
      const { status, output } = await run(command, { url, access, directory, parameters, count });
      const tookMs = performance.now() - began;
      const admin = new SqlClient(access);
      const sql = new SqlClient({ ...access, database: own });
      try {
        if (status !== 0) return { stored: -1, tookMs, output };
        return { stored: await sql.number(`SELECT count(*) FROM "${table}"`), tookMs, output };
      } finally {
        await sql.close();
        if (own !== access.database) await admin.run(`DROP DATABASE IF EXISTS "${own}" WITH (FORCE)`);
        await admin.close();
      }
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
