import { clockFinding, clockLead, fail, ok, warn, type Finding } from '../../../src/data/finding.ts';
import type { DatabaseError } from '../../../src/errors.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import { ownStatement } from '../sql/own-statement.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import type { Executor } from './api.ts';
import type { ConnectionSettings } from './connection-url.ts';
import { openExecutor } from './open-executor.ts';
import { probeFindings } from './server-probe.ts';
import { isCausedByConnectionUrl, isDatabaseMissing, isLoginRefused, toDatabaseError } from './sqlstate.ts';

/** Requirements of a connector or service for its database. */
export interface DatabaseDemands {
  readonly connections: number;
  readonly writes: boolean;
}

/** Time limit per server of the URL. */
const CONNECT_TIMEOUT_MS = 4000;
/**
 * Lowest safe values of the server's timeouts. With a lower value, the server interrupts normal work of connectors,
 * such as batches and waits for a lock.
 */
const SHORTEST_LIMITS_MS = {
  statement_timeout: 30_000,
  transaction_timeout: 60_000,
  idle_in_transaction_session_timeout: 10_000,
  lock_timeout: 5_000,
} as const;

const setting = (name: string): string => `(SELECT setting FROM pg_catalog.pg_settings WHERE name = '${name}')`;

const SERVER = ownStatement(
  'doctor: server',
  `SELECT current_setting('server_version'), (extract(epoch from clock_timestamp()) * 1000)::int8,
    pg_is_in_recovery() OR current_setting('transaction_read_only')::bool, current_user, current_database(),
    current_setting('max_connections')::int8 - COALESCE(${setting('superuser_reserved_connections')}, '0')::int8
      - COALESCE(${setting('reserved_connections')}, '0')::int8,
    (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datid IS NOT NULL AND pid <> pg_backend_pid()),
    (SELECT rolconnlimit FROM pg_catalog.pg_roles WHERE rolname = current_user),
    (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()),
    ${Object.keys(SHORTEST_LIMITS_MS).map(setting).join(', ')}`,
);

/**
 * Checks a database as a connector would use it: the connection and the relevant settings. `check` adds the checks of
 * the connector. All changes are rolled back. `signal` cancels only the connection attempt and the query of the
 * settings.
 */
export async function diagnoseDatabase(
  settings: ConnectionSettings,
  demands: DatabaseDemands,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
  check: (executor: Executor) => Promise<readonly Finding[]> = () => Promise.resolve([]),
): Promise<Finding[]> {
  const connectTimeoutMs = Math.min(settings.connectTimeoutMs, CONNECT_TIMEOUT_MS);
  const own = { ...settings, connectTimeoutMs, applicationName: 'sluice doctor' };
  const executor = openExecutor(own, { logger, poolSize: 1 });
  try {
    const askedAt = Date.now();
    const [row = []] = (await executor.ask(SERVER, [], { signal })).rows;
    const findings = serverFindings(row, demands, { askedAt, answeredAt: Date.now() });
    const behaviour = probeFindings(await executor.probe(demands));
    return [...findings, ...behaviour, ...(await check(executor))];
  } catch (thrown) {
    const error = toDatabaseError(thrown);
    return [fail('database', error.message, fixFor(error, settings))];
  } finally {
    await executor.close();
  }
}

function fixFor(error: DatabaseError, { database, user, servers }: ConnectionSettings): string | undefined {
  if (isDatabaseMissing(error)) return `CREATE DATABASE ${quoteIdentifier(database)} OWNER ${quoteIdentifier(user)};`;
  // The message of an old server, a certificate or a pooler that drops settings says what to change.
  if (isCausedByConnectionUrl(error)) return undefined;
  if (isLoginRefused(error)) return `set connection.user and connection.password, and check pg_hba.conf`;
  if (error.scope === 'infrastructure' && error.sqlstate === undefined) {
    const [first] = servers;
    return `pg_isready -h ${first?.host ?? ''} -p ${String(first?.port ?? '')}`;
  }
  return undefined;
}

function serverFindings(
  row: readonly (string | null)[],
  demands: DatabaseDemands,
  moment: { readonly askedAt: number; readonly answeredAt: number },
): Finding[] {
  const [version, clock, readOnly, user, database, slots, used, limit, usedByUser, ...limits] = row;
  const role = quoteIdentifier(user ?? '');
  const summary = `PostgreSQL ${version ?? ''}, database ${database ?? ''}, user ${user ?? ''}`;
  const findings = [
    readOnly === 't' && demands.writes
      ? fail(
          'database',
          `${summary}: the server is read-only`,
          'name the primary server in connection.url, or targetServerType=primary',
        )
      : ok('database', summary),
    slotsFinding(Number(slots), Number(used), demands),
  ];
  const ownSlots = Number(limit ?? -1);
  if (ownSlots >= 0 && ownSlots - Number(usedByUser) < demands.connections) {
    const needed = Number(usedByUser) + demands.connections;
    findings.push(
      warn(
        'connection limit',
        `user ${user ?? ''} may have ${String(ownSlots)} connections and has ${String(usedByUser)}; ${String(demands.connections)} more are needed`,
        `ALTER ROLE ${role} CONNECTION LIMIT ${String(needed)};`,
      ),
    );
  }
  const lead = clockLead(Number(clock), moment.askedAt, moment.answeredAt);
  findings.push(...limitFindings(limits, role), clockFinding('clock of the database', lead));
  return findings;
}

function slotsFinding(slots: number, used: number, { connections }: DatabaseDemands): Finding {
  const free = Math.max(0, slots - used);
  const text = `${String(slots)} for users, ${String(free)} of them free; up to ${String(connections)} are needed`;
  if (free >= connections) return ok('max_connections', text);
  const cure = `ALTER SYSTEM SET max_connections = ${String(slots + connections - free + 20)}; then restart the server`;
  return warn('max_connections', text, cure);
}

/**
 * Returns a warning for each timeout that is too short. `values` are in milliseconds and in the order of
 * SHORTEST_LIMITS_MS; null if the server does not have the setting.
 */
function limitFindings(values: readonly (string | null)[], role: string): Finding[] {
  const names = Object.entries(SHORTEST_LIMITS_MS);
  const short = names.flatMap(([name, shortest], index): Finding[] => {
    const ms = Number(values[index] ?? 0);
    if (ms === 0 || ms >= shortest) return [];
    const message = `${String(ms)} ms: work that takes longer is interrupted and retried`;
    return [warn(name, message, `ALTER ROLE ${role} SET ${name} = '${String(shortest / 1000)}s';`)];
  });
  return short.length > 0 ? short : [ok('timeouts', 'no limit interrupts normal work')];
}
