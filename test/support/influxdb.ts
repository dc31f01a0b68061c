import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../src/dev/ports.ts';
import { until } from './until.ts';

/** Rows of one measurement: time in microseconds, tags and fields by name. Null fields are omitted. */
export type InfluxRow = Readonly<Record<string, string | number | boolean>>;

interface InfluxResult {
  readonly results: readonly {
    readonly series?: readonly {
      readonly tags?: Readonly<Record<string, string>>;
      readonly columns: readonly string[];
      readonly values: readonly (readonly (string | number | boolean | null)[])[];
    }[];
  }[];
}

/** InfluxDB 1 on the loopback address, with its own folder. */
export class InfluxDb {
  readonly #url: string;
  readonly #process: ChildProcess;
  readonly #directory: string;

  private constructor(url: string, process: ChildProcess, directory: string) {
    this.#url = url;
    this.#process = process;
    this.#directory = directory;
  }

  /** Resolves with `undefined` if PATH contains no `influxd`. */
  static async start(): Promise<InfluxDb | undefined> {
    const command = findCommand('influxd');
    if (command === undefined) return undefined;
    const directory = await mkdtemp(path.join(tmpdir(), 'sluice-influxd-'));
    const [http, rpc] = [await freePort(), await freePort()];
    const file = path.join(directory, 'influxdb.conf');
    await writeFile(file, configuration(directory, http, rpc));
    const process = spawn(command, ['run', '-config', file], { stdio: 'ignore' });
    const influx = new InfluxDb(`http://127.0.0.1:${String(http)}`, process, directory);
    try {
      await until(async () => {
        if (process.exitCode !== null) throw new Error(`influxd ended with ${String(process.exitCode)}`);
        return (await fetch(`${influx.#url}/ping`).catch(() => undefined))?.status === 204;
      }, 'influxd answers');
      await influx.#query('CREATE DATABASE cases');
      return influx;
    } catch (error) {
      await influx.stop();
      throw error;
    }
  }

  async post(pathAndQuery: string, body: string | URLSearchParams): Promise<Response> {
    return fetch(`${this.#url}${pathAndQuery}`, { method: 'POST', body });
  }

  /** Writes lines and resolves with the status of the response. */
  async write(body: string, parameters: Readonly<Record<string, string>>): Promise<number> {
    const query = new URLSearchParams({ db: 'cases', ...parameters });
    const response = await fetch(`${this.#url}/write?${query.toString()}`, { method: 'POST', body });
    await response.arrayBuffer();
    return response.status;
  }

  async rows(measurement: string): Promise<InfluxRow[]> {
    const { results } = await this.#query(`SELECT * FROM "${measurement}" GROUP BY *`);
    return (results[0]?.series ?? []).flatMap(({ tags = {}, columns, values }) =>
      values.map((cells) => {
        const named = columns.map((column, index) => [column, cells[index] ?? null] as const);
        const filled = named.filter((pair): pair is [string, string | number | boolean] => pair[1] !== null);
        const tagged = Object.entries(tags).filter(([, value]) => value !== '');
        return Object.fromEntries([...filled, ...tagged]);
      }),
    );
  }

  async stop(): Promise<void> {
    const ended = this.#process.exitCode === null ? once(this.#process, 'exit') : Promise.resolve();
    this.#process.kill('SIGKILL');
    await ended;
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #query(q: string): Promise<InfluxResult> {
    const query = new URLSearchParams({ db: 'cases', epoch: 'u', q });
    const response = await fetch(`${this.#url}/query`, { method: 'POST', body: query });
    return (await response.json()) as InfluxResult;
  }
}

function configuration(directory: string, http: number, rpc: number): string {
  const at = (name: string): string => JSON.stringify(path.join(directory, name));
  return `reporting-disabled = true
bind-address = "127.0.0.1:${String(rpc)}"
[meta]
dir = ${at('meta')}
[data]
dir = ${at('data')}
wal-dir = ${at('wal')}
[http]
bind-address = "127.0.0.1:${String(http)}"
log-enabled = false
[monitor]
store-enabled = false
`;
}

function findCommand(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((directory) => path.join(directory, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
