import { toError, type Logger } from '../../src/index.ts';
import { DatabaseError, ownStatement, quoteIdentifier, quoteLiteral, type Executor } from '../database/index.ts';
import { readTimeZone, requireTimeZone } from './time-zone.ts';

const MAX_MINUTES = 2n ** 63n - 1n;
const DEFAULT_MINUTES = 60n;

/** Cluster settings of the API, and the custom parameter of the default database that keeps each. */
const SETTINGS = {
  'server.rest.timeout': 'sluice.server_rest_timeout',
  'server.restful_service.default_request_timezone': 'sluice.default_request_timezone',
} as const;

export type SettingName = keyof typeof SETTINGS;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/** A session's own `current_setting` would be as old as its connection. */
const READ = ownStatement(
  'settings: read',
  `SELECT c.entry FROM pg_catalog.pg_db_role_setting s CROSS JOIN LATERAL unnest(s.setconfig) AS c(entry)
  WHERE s.setrole = 0 AND s.setdatabase = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
  AND c.entry LIKE 'sluice.%'`,
);

/**
 * The settings that `SET CLUSTER SETTING` changes. They are kept as parameters of the default database
 * (`ALTER DATABASE … SET sluice.… = …`), so that they survive a restart, are the same for all workers on that database and
 * travel with `pg_dumpall`. A change is in force here at once, and on other workers when they read it at the next login.
 *
 * They hold for everybody: the service's own account reads and writes them, or an administrator, never an ordinary user.
 */
export class ServerSettings {
  readonly #logger: Logger;
  readonly #service: () => Executor | undefined;
  readonly #values = new Map<SettingName, string>();

  /** `service`: the service's own account on the default database, where it has one. */
  constructor(logger: Logger, service: () => Executor | undefined) {
    this.#logger = logger;
    this.#service = service;
  }

  /** Minutes, 1 to 2^63-1. */
  get timeoutMinutes(): bigint {
    const text = this.#values.get('server.rest.timeout');
    return text === undefined ? DEFAULT_MINUTES : BigInt(text);
  }

  /** Rounded beyond 2^53, which is 285,000 years. */
  get timeoutMs(): number {
    return Number(this.timeoutMinutes) * 60_000;
  }

  /** In PostgreSQL's spelling. */
  get timeZone(): string {
    return readTimeZone(this.#values.get('server.restful_service.default_request_timezone') ?? 'UTC') ?? 'UTC';
  }

  /** A setting as SHOW CLUSTER SETTING prints it. */
  show(name: SettingName): string {
    return name === 'server.rest.timeout' ? String(this.timeoutMinutes) : (this.#values.get(name) ?? 'UTC');
  }

  names(): readonly SettingName[] {
    return Object.keys(SETTINGS) as SettingName[];
  }

  /**
   * Loads the stored settings with the account of the service, otherwise with that of an administrator who has just
   * logged in. Settings that cannot be read keep their values. `administrator` is called only without an account; it
   * resolves with `undefined` for other users.
   */
  async load(administrator: () => Promise<Executor | undefined>): Promise<void> {
    try {
      const executor = this.#service() ?? (await administrator());
      if (executor === undefined) return;
      const { rows } = await executor.ask(READ);
      const kept = new Map(rows.map(([entry]) => split(entry ?? '')));
      for (const name of this.names()) {
        const value = kept.get(SETTINGS[name]);
        if (value !== undefined && check(name, value) === undefined) this.#values.set(name, value);
        else this.#values.delete(name);
      }
    } catch (error) {
      this.#logger.debug({ err: toError(error) }, 'database HTTP API: the cluster settings could not be read');
    }
  }

  /**
   * Changes a setting with the account of the service, otherwise with `executor` of an administrator, who must own the
   * database. Without `value` the setting gets its default. Rejects with a DatabaseError (22023) for a value out of
   * range.
   */
  async set(name: SettingName, value: string | undefined, executor: Executor, database: string): Promise<void> {
    const text = value?.trim();
    const fault = text === undefined ? undefined : check(name, text);
    if (fault !== undefined) throw new DatabaseError(fault, { scope: 'caller', sqlstate: '22023' });
    if (text !== undefined && name !== 'server.rest.timeout')
      await requireTimeZone(executor, readTimeZone(text) ?? text, text);
    const change = text === undefined ? `RESET ${SETTINGS[name]}` : `SET ${SETTINGS[name]} = ${quoteLiteral(text)}`;
    await (this.#service() ?? executor).query(`ALTER DATABASE ${quoteIdentifier(database)} ${change}`);
    if (text === undefined) this.#values.delete(name);
    else this.#values.set(name, text);
  }
}

function check(name: SettingName, text: string): string | undefined {
  if (name === 'server.rest.timeout') {
    const isInRange = /^\d{1,19}$/.test(text) && BigInt(text) >= 1n && BigInt(text) <= MAX_MINUTES;
    return isInRange ? undefined : `${name} takes whole minutes in [1, ${MAX_MINUTES}], not "${text.slice(0, 64)}"`;
  }
  if (readTimeZone(text) !== undefined) return undefined;
  return `${name} takes a time zone (Europe/Oslo, +08:00, or hours east from -12 to 14), not "${text.slice(0, 64)}"`;
}

function split(entry: string): [string, string] {
  const equals = entry.indexOf('=');
  return [entry.slice(0, equals), entry.slice(equals + 1)];
}
