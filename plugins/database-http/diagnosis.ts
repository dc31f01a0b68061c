import {
  fail,
  ok,
  parseOptions,
  toError,
  type ConnectorConfig,
  type DiagnosisContext,
  type Finding,
} from '../../src/index.ts';
import {
  DatabaseError,
  diagnoseDatabase,
  isLoginRefused,
  openExecutor,
  parseConnectionUrl,
  type ConnectionSettings,
} from '../database/index.ts';
import { serviceOptions } from './options.ts';

/** A user that does not exist. A server that rejects it is reachable. */
const UNKNOWN_USER = 'sluice_doctor';
const CONNECT_TIMEOUT_MS = 4000;

/**
 * Findings of `sluice doctor` about the API. If the API has an account of its own, it checks the database with that account.
 * Otherwise it checks only whether the database answers.
 */
export async function diagnoseApi(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]> {
  const settings = parseOptions(serviceOptions, config);
  const url = settings['connection.url'];
  const database = settings['default.database'];
  const account = ownAccount(url, { password: settings['connection.password'], database });
  if (account === undefined)
    return [await answerFinding(parseConnectionUrl(url, { user: UNKNOWN_USER, database }), context)];
  return diagnoseDatabase(account, { connections: settings['user.connections'], writes: true }, context);
}

/** Connection settings of the API's own account; `undefined` if the URL names no user. */
function ownAccount(url: string, over: Parameters<typeof parseConnectionUrl>[1]): ConnectionSettings | undefined {
  try {
    return parseConnectionUrl(url, over);
  } catch {
    return undefined;
  }
}

async function answerFinding(settings: ConnectionSettings, { logger, signal }: DiagnosisContext): Promise<Finding> {
  const executor = openExecutor({ ...settings, connectTimeoutMs: CONNECT_TIMEOUT_MS }, { logger, poolSize: 1 });
  try {
    await executor.query('SELECT 1', [], { signal });
    return ok('database', `the server answers, and lets ${UNKNOWN_USER} in`);
  } catch (error) {
    if (error instanceof DatabaseError && isLoginRefused(error)) {
      return ok('database', 'the server answers; users log in with their own names');
    }
    const [server] = settings.servers;
    return fail(
      'database',
      toError(error).message,
      `pg_isready -h ${server?.host ?? ''} -p ${String(server?.port ?? '')}`,
    );
  } finally {
    await executor.close();
  }
}
