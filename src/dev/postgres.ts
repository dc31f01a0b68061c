import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectError, toError } from '../errors.ts';
import { freePort } from './ports.ts';
import { postgresBinaries, type PostgresBinaries } from './postgres/binaries.ts';
import { postgresAccount, type PostgresAccount } from './postgres/account.ts';
import { logTail, ServiceProcess } from './service-process.ts';

export interface PostgresOptions {
  /**
   * The data folder, which is created if it is missing. Absent: a temporary folder, which is used with `fsync=off` and
   * which `discard` deletes.
   */
  readonly dataDir?: string;
  /** Absent: a free port. */
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  /** Default: `<dataDir>.log`. */
  readonly logFile?: string;
  /** Server settings (`postgres -c name=value`). */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called for steps that take longer than an ordinary start. */
  readonly onProgress?: (message: string) => void;
  /** Aborts a pending start. */
  readonly signal?: AbortSignal;
}

const startTimeoutMs = 60_000;

/**
 * A local PostgreSQL server on 127.0.0.1. Its port and data stay the same from start to start.
 *
 * stopped --start--> running --stop, kill, parent dies--> stopped;  any --discard--> gone
 */
export class LocalPostgres {
  readonly title = 'PostgreSQL';
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly dataDir: string;
  readonly logFile: string;
  readonly #throwAway: boolean;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #binaries: PostgresBinaries;
  readonly #account: PostgresAccount;
  #process: ServiceProcess | undefined;

  private constructor(options: PostgresOptions, place: Place, binaries: PostgresBinaries, account: PostgresAccount) {
    this.port = place.port;
    this.dataDir = place.dataDir;
    this.user = options.user ?? 'postgres';
    this.password = options.password ?? 'postgres';
    this.logFile = options.logFile ?? `${place.dataDir}.log`;
    this.#throwAway = options.dataDir === undefined;
    this.#settings = { ...(this.#throwAway ? { fsync: 'off' } : {}), ...options.settings };
    this.#binaries = binaries;
    this.#account = account;
  }

  /** Prepares the data folder if it is missing, and starts the server. */
  static async start(options: PostgresOptions = {}): Promise<LocalPostgres> {
    const binaries = await postgresBinaries(process.env);
    const dataDir = resolve(options.dataDir ?? join(await throwAwayFolder(), 'data'));
    const account = await postgresAccount(dataDir, [binaries.postgres, dataDir]);
    const postgres = new LocalPostgres(
      options,
      { dataDir, port: options.port ?? (await freePort()) },
      binaries,
      account,
    );
    try {
      if (!existsSync(join(dataDir, 'PG_VERSION'))) {
        options.onProgress?.('preparing a PostgreSQL data folder');
        await postgres.#initialise(options.signal);
      }
      await postgres.start(options.signal);
      return postgres;
    } catch (error) {
      if (options.dataDir === undefined) await postgres.discard();
      throw error;
    }
  }

  /** Id of the server process, whose children end with it. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }

  get running(): boolean {
    return this.#process?.running === true;
  }

  /** URL of a database, including the password. */
  url(database = 'postgres'): string {
    const login = `${encodeURIComponent(this.user)}:${encodeURIComponent(this.password)}`;
    return `postgresql://${login}@${this.host}:${String(this.port)}/${encodeURIComponent(database)}`;
  }

  /**
   * Starts the server, and resolves when it accepts connections. If processes of an earlier server still use the data
   * folder, waits for them to end.
   */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.running) return;
    const deadline = Date.now() + startTimeoutMs;
    await this.#untilLeft(deadline, signal);
    for (;;) {
      try {
        await this.#startOnce(deadline - Date.now(), signal);
        return;
      } catch (error) {
        // Backends of a server that was killed with SIGKILL take a moment to notice this. Until then, they keep the
        // server's shared memory attached.
        const lingering = (await logTail(this.logFile)).includes('pre-existing shared memory block');
        if (!lingering || Date.now() > deadline) throw error;
        await delay(100, undefined, signal === undefined ? {} : { signal });
      }
    }
  }

  /**
   * Disconnects clients and shuts down. If this takes longer than 2 s, the server ends without a shutdown. The data
   * stays.
   */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** Kills the server, as `kill -9` does. The data stays. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Kills the server and deletes its data. */
  async discard(): Promise<void> {
    await this.kill();
    await rm(this.#throwAway ? dirname(this.dataDir) : this.dataDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #startOnce(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const settings: Record<string, string> = {
      listen_addresses: this.host,
      unix_socket_directories: '',
      max_connections: '200',
      ...this.#settings,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', this.dataDir, '-p', String(this.port), ...flags];
    const process = await ServiceProcess.spawn({
      title: this.title,
      ...this.#account.command(this.#binaries.postgres, args),
      logFile: this.logFile,
      stopSignals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
      whenOrphaned: this.#throwAway ? ['rm', '-rf', '--', dirname(this.dataDir)] : undefined,
    });
    this.#process = process;
    const isReady = (): Promise<boolean> => {
      const lines = this.#pidFile();
      return Promise.resolve(lines[0] === String(process.pid) && lines[7]?.startsWith('ready') === true);
    };
    await process.untilReady(isReady, timeoutMs, signal);
  }

  /** Lines of postmaster.pid: the first is the process id, the eighth the state (as pg_ctl reads it). */
  #pidFile(): readonly string[] {
    try {
      return readFileSync(join(this.dataDir, 'postmaster.pid'), 'utf8').split('\n');
    } catch {
      return [];
    }
  }

  /** Waits until a server that an earlier process left behind has ended. */
  async #untilLeft(deadline: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const pid = this.#pidFile()[0]?.trim() ?? '';
      // Without /proc, PostgreSQL's own check of its pid file must suffice.
      if (pid === '' || !existsSync('/proc/self')) return;
      if (!holdsFolder(pid, this.dataDir)) {
        // The id may now belong to another process, which PostgreSQL would mistake for a running server.
        await rm(join(this.dataDir, 'postmaster.pid'), { force: true });
        return;
      }
      if (Date.now() > deadline)
        throw new ConnectError(`${this.dataDir} is in use by the PostgreSQL of process ${pid}`);
      await delay(50, undefined, signal === undefined ? {} : { signal });
    }
  }

  /** Prepares another folder and renames it, so that an interrupted preparation is not mistaken for a finished one. */
  async #initialise(signal: AbortSignal | undefined): Promise<void> {
    const unfinished = `${this.dataDir}.unfinished`;
    const passwordFile = `${this.dataDir}.password`;
    await rm(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    this.#account.own(unfinished);
    mkdirSync(dirname(this.logFile), { recursive: true });
    const log = openSync(this.logFile, 'a');
    try {
      writeFileSync(passwordFile, this.password, { mode: 0o600 });
      this.#account.own(passwordFile);
      const { command, args, account } = this.#account.command(this.#binaries.initdb, [
        `--pgdata=${unfinished}`,
        `--username=${this.user}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--no-sync',
        '--encoding=UTF8',
        ...localeOf(this.#binaries),
      ]);
      const initdb = spawn(command, args, { stdio: ['ignore', log, log], ...account, ...(signal && { signal }) });
      const [code] = (await once(initdb, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`exit code ${String(code)}`);
      await rename(unfinished, this.dataDir);
    } catch (error) {
      signal?.throwIfAborted();
      throw new ConnectError(
        `The PostgreSQL data folder ${this.dataDir} could not be prepared (${toError(error).message}); the end of ` +
          `${this.logFile}:\n${await logTail(this.logFile)}`,
        { cause: error },
      );
    } finally {
      closeSync(log);
      await rm(passwordFile, { force: true });
      await rm(unfinished, { recursive: true, force: true });
    }
  }
}

/** Arguments of initdb for a locale in which texts are sorted by code points. */
function localeOf({ majorVersion }: PostgresBinaries): readonly string[] {
  if (majorVersion < 17) return ['--locale=C.UTF-8'];
  return ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
}

interface Place {
  readonly dataDir: string;
  readonly port: number;
}

async function throwAwayFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postgres-'));
  await chmod(folder, 0o755);
  return folder;
}

function holdsFolder(pid: string, dataDir: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(dataDir);
  } catch {
    return false;
  }
}
