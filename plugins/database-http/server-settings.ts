import { toError, type Logger } from '../../src/index.ts';
import { DatabaseError, ownStatement, quoteIdentifier, quoteLiteral, type Executor } from '../database/index.ts';
import { readTimeZone, requireTimeZone } from './time-zone.ts';

const MAX_MINUTES = 2n ** 63n - 1n;
const DEFAULT_MINUTES = 60n;

/** Cluster settings of the API, and the custom parameter of the default database in which each is stored. */
const SETTINGS = {
  'server.rest.timeout': 'sluice.server_rest_timeout',
  'server.restful_service.default_request_timezone': 'sluice.default_request_timezone',
} as const;

export type SettingName = keyof typeof SETTINGS;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/** Reads the catalog, because `current_setting` returns the value at the time when the session connected. */
const READ = ownStatement(
  'settings: read',
  `SELECT c.entry FROM pg_catalog.pg_db_role_setting s CROSS JOIN LATERAL unnest(s.setconfig) AS c(entry)
  WHERE s.setrole = 0 AND s.setdatabase = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
  AND c.entry LIKE 'sluice.%'`,
);

/**
 * The settings that `SET CLUSTER SETTING` changes. They are stored as parameters of the default database
 * (`ALTER DATABASE … SET sluice.… = …`), so that they survive a restart, are the same for all workers on that database
 * and are included in `pg_dumpall`. A change takes effect immediately on this worker, and on other workers at the next
 * login, which must be that of an administrator if the service has no account.
 *
 * The settings apply to all users. They are read and written with the service's own account or with that of an administrator,
 * never with that of an ordinary user.
 */
export class ServerSettings {
  readonly #logger: Logger;
  readonly #service: () => Executor | undefined;
  readonly #values = new Map<SettingName, string>();

  /** `service` returns an executor for the service's own account on the default database; `undefined` if it has no account. */
  constructor(logger: Logger, service: () => Executor | undefined) {
    this.#logger = logger;
    this.#service = service;
  }

  /** Validity period of tokens in minutes, from 1 to 2^63-1. */
  get timeoutMinutes(): bigint {
    const text = this.#values.get('server.rest.timeout');
    return text === undefined ? DEFAULT_MINUTES : BigInt(text);
  }

  /** Validity period of tokens in milliseconds. Values beyond 2^53 (285,000 years) are rounded. */
  get timeoutMs(): number {
    return Number(this.timeoutMinutes) * 60_000;
  }

  /** Default time zone of requests, in PostgreSQL's spelling. */
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
   * Loads the stored settings with the account of the service. Without such an account, it uses `administrator`, which resolves with
   * the executor of the user who has just logged in, or with `undefined` if that user is not an administrator. If the settings
   * cannot be read, they keep their values.
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
   * Changes a setting with the account of the service. Without such an account, it uses `executor`, the executor of an
   * administrator who must own the database. Without `value`, the setting is reset to its default. Rejects with a
   * DatabaseError (22023) for an invalid value, and with an ApiFailure 400 for a time zone that the database does not
   * know.
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
  return `${name} takes a time zone (Europe/Oslo, +08:00, or the hours east of UTC, -12 to 14), not "${text.slice(0, 64)}"`;
}

function split(entry: string): [string, string] {
  const equals = entry.indexOf('=');
  return [entry.slice(0, equals), entry.slice(equals + 1)];
}
