import { Password } from '../../../src/config/password.ts';
import { nearestName } from '../../../src/config/nearest.ts';
import { ConfigError } from '../../../src/errors.ts';
import { lookupTable } from '../../../src/data/lookup-table.ts';
import { readService } from './service-file.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export type TlsMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/**
 * TLS settings of libpq. `allow` first connects without TLS and `prefer` first with TLS; if the server refuses the
 * first attempt, both try the other way. `require` encrypts without verifying the server, even if a root certificate
 * is given (libpq then verifies the chain). `verify-ca` verifies the certificate chain, and `verify-full` also verifies
 * the host name.
 */
export interface TlsSettings {
  readonly mode: TlsMode;
  /** Paths of PEM files; the key may also be DER PKCS #8 or PKCS #12. The default CAs are those of Node. */
  readonly rootCertificatePath: string | undefined;
  readonly certificatePath: string | undefined;
  readonly keyPath: string | undefined;
  readonly keyPassword: Password | undefined;
}

/** Connection settings; executors with equal settings share a pool. */
export interface ConnectionSettings {
  /** Tried in this order for each new connection. */
  readonly servers: readonly ServerAddress[];
  readonly database: string;
  readonly user: string;
  readonly password: Password | undefined;
  /** Path of a password file (`passfile`) for connections without a password. */
  readonly passwordFile: string | undefined;
  readonly tls: TlsSettings;
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
  readonly searchPath: string | undefined;
  /** With `primary`, read-only servers are skipped. */
  readonly target: 'any' | 'primary';
  /** Set to false by `prepareThreshold=0`, for poolers that use a different server connection for each transaction. */
  readonly namedStatements: boolean;
}

/** Describes the database for messages, without user and password. */
export function databaseText({ servers, database }: Pick<ConnectionSettings, 'servers' | 'database'>): string {
  return `the database ${database} at ${servers.map(({ host, port }) => `${host}:${String(port)}`).join(', ')}`;
}

/** Values of `connection.user`, `connection.password` and `connection.database`, which override the URL. */
export interface UrlOverrides {
  readonly user?: string | null | undefined;
  readonly password?: Password | null | undefined;
  readonly database?: string | null | undefined;
}

export const DEFAULT_APPLICATION_NAME = 'sluice';
const DEFAULT_PORT = 5432;
const DEFAULT_CONNECT_TIMEOUT_S = 10;

const SCHEMES = ['jdbc:db://', 'jdbc:postgresql://', 'postgresql://', 'postgres://', 'db://'];
const SHAPE = 'jdbc:db://host:port[,host:port…]/database[?parameter=value&…]';

/** Parses `jdbc:db://…` or a URL of the JDBC driver or libpq. Throws a ConfigError whose message omits the password. */
export function parseConnectionUrl(url: string, overrides: UrlOverrides = {}): ConnectionSettings {
  const { authority, path, query } = split(url);
  const parameters = new Parameters(query);
  const { host, hostaddr, port, dbname, user: serviceUser, password: servicePassword, ...more } = service(parameters);
  parameters.addMissing(more);
  const at = authority.lastIndexOf('@');
  const credentials = at < 0 ? '' : authority.slice(0, at);
  const colon = credentials.indexOf(':');
  const urlUser = decode(colon < 0 ? credentials : credentials.slice(0, colon), 'user name');
  const urlPassword = colon < 0 ? '' : decode(credentials.slice(colon + 1), 'password');

  const user = overrides.user ?? parameters.take('user') ?? (urlUser === '' ? (serviceUser ?? '') : urlUser);
  if (user === '') throw new ConfigError('no database user: set connection.user, or user in connection.url');
  const ownPassword = parameters.take('password') ?? urlPassword;
  const password = overrides.password ?? toPassword(ownPassword === '' ? (servicePassword ?? '') : ownPassword);
  const database = overrides.database ?? (path === '' ? (dbname ?? '') : decode(path, 'database name'));
  if (database === '') {
    throw new ConfigError('no database: set connection.database, or name it in connection.url after the host');
  }
  const address = authority.slice(at + 1);
  const settings: ConnectionSettings = {
    servers: servers(address === '' ? serviceAddress(host ?? hostaddr, port) : address),
    database,
    user,
    password,
    passwordFile: parameters.take('passfile'),
    tls: tlsSettings(parameters),
    connectTimeoutMs: 1000 * parameters.takeSeconds(['connectTimeout', 'connect_timeout'], DEFAULT_CONNECT_TIMEOUT_S),
    applicationName: parameters.take('ApplicationName', 'application_name') ?? DEFAULT_APPLICATION_NAME,
    searchPath: parameters.take('currentSchema', 'search_path'),
    target: target(parameters),
    namedStatements: parameters.take('prepareThreshold') !== '0',
  };
  refuseTypos(parameters.rest());
  return settings;
}

/** Supported parameters in lower case. */
const KNOWN_PARAMETERS = [
  ...['user', 'password', 'passfile', 'service', 'servicefile', 'connecttimeout', 'connect_timeout'],
  ...['applicationname', 'application_name', 'currentschema', 'search_path', 'preparethreshold'],
  ...['targetservertype', 'target_session_attrs'],
  ...['ssl', 'sslfactory', 'sslmode', 'ssl_mode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword'],
];

/**
 * Throws ConfigError if a parameter that is not supported is a typo of a supported one: `sslmod`. Others are ignored, as
 * they may be those of another driver.
 */
function refuseTypos(unknown: readonly string[]): void {
  for (const name of unknown) {
    const meant = nearestName(name.toLowerCase(), KNOWN_PARAMETERS);
    // If connection.user overrides `user`, this parameter was not taken and is among the remaining ones.
    if (meant !== undefined && meant !== name.toLowerCase())
      throw new ConfigError(`connection.url: the parameter "${name}" is unknown; did you mean ${meant}?`);
  }
}

function split(url: string): { authority: string; path: string; query: string } {
  const text = url.trim();
  const scheme = SCHEMES.find((candidate) => text.toLowerCase().startsWith(candidate));
  if (scheme === undefined) {
    throw new ConfigError(`check connection.url is correct: it must look like ${SHAPE}`);
  }
  const rest = text.slice(scheme.length);
  const questionMark = rest.indexOf('?');
  const beforeQuery = questionMark < 0 ? rest : rest.slice(0, questionMark);
  const slash = beforeQuery.indexOf('/');
  return {
    authority: slash < 0 ? beforeQuery : beforeQuery.slice(0, slash),
    path: slash < 0 ? '' : beforeQuery.slice(slash + 1),
    query: questionMark < 0 ? '' : rest.slice(questionMark + 1),
  };
}

/** Returns the settings of the service named in the URL, which the rest of the URL overrides. */
function service(parameters: Parameters): Readonly<Record<string, string>> {
  const name = parameters.take('service');
  const file = parameters.take('servicefile');
  return name === undefined ? {} : readService(name, file);
}

/** Combines the hosts and ports of a service file: lists of equal length, or one port for all hosts. */
function serviceAddress(hosts: string | undefined, ports: string | undefined): string {
  if (hosts === undefined) return '';
  const list = ports?.split(',') ?? [];
  const addresses = hosts.split(',').map((host, index) => {
    const port = (list.length === 1 ? list[0] : list[index]) ?? '';
    const name = host.includes(':') ? `[${host}]` : host;
    return port.trim() === '' ? name : `${name}:${port.trim()}`;
  });
  return addresses.join(',');
}

function servers(text: string): readonly ServerAddress[] {
  return text.split(',').map((part) => {
    const match = /^(?:\[([0-9a-fA-F:.%a-z]+)\]|([^:[\]\s]*))(?::(\d*))?$/.exec(part.trim());
    const host = match?.[1] ?? match?.[2] ?? '';
    if (match === null || host === '') {
      throw new ConfigError(
        `connection.url: "${part}" is not host:port (write an IPv6 address in brackets); expected ${SHAPE}`,
      );
    }
    const portText = match[3] ?? '';
    const port = portText === '' ? DEFAULT_PORT : Number(portText);
    if (port < 1 || port > 65_535) {
      throw new ConfigError(`connection.url: the port of "${part}" must be between 1 and 65535`);
    }
    return { host: decode(host, 'host'), port };
  });
}

const TLS_MODES: Readonly<Record<string, TlsMode>> = lookupTable({
  disable: 'disable',
  allow: 'allow',
  prefer: 'prefer',
  require: 'require',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify-full',
});

function tlsSettings(parameters: Parameters): TlsSettings {
  const ssl = parameters.take('ssl');
  const trustsAll = parameters.take('sslfactory')?.endsWith('NonValidatingFactory') ?? false;
  const modeText = parameters.take('sslmode', 'ssl_mode') ?? impliedMode(ssl, trustsAll);
  const mode = TLS_MODES[modeText.toLowerCase()];
  if (mode === undefined) {
    const known = Object.keys(TLS_MODES).join(', ');
    throw new ConfigError(`connection.url: sslmode "${modeText}" is not one of ${known}`);
  }
  return {
    mode,
    rootCertificatePath: parameters.take('sslrootcert'),
    certificatePath: parameters.take('sslcert'),
    keyPath: parameters.take('sslkey'),
    keyPassword: toPassword(parameters.take('sslpassword') ?? ''),
  };
}

/** `ssl=true` without a mode implies full verification, as in the JDBC driver since 42.2.5. */
function impliedMode(ssl: string | undefined, trustsAll: boolean): string {
  if (ssl === undefined || ssl.toLowerCase() === 'false') return 'prefer';
  return trustsAll ? 'require' : 'verify-full';
}

function target(parameters: Parameters): 'any' | 'primary' {
  const text = parameters.take('targetServerType', 'target_session_attrs') ?? 'any';
  switch (text.toLowerCase()) {
    case 'any':
      return 'any';
    case 'primary':
    case 'master':
    case 'read-write':
      return 'primary';
    default:
      throw new ConfigError(`connection.url: targetServerType "${text}" is not one of any, primary`);
  }
}

/**
 * Parameters of a URL. `take` returns a parameter and removes it, so that the unknown parameters remain. Names are
 * case-insensitive, because users mix up upper and lower case.
 */
class Parameters {
  readonly #values = new Map<string, { name: string; value: string }>();

  constructor(query: string) {
    for (const part of query.split('&')) {
      if (part === '') continue;
      const equals = part.indexOf('=');
      if (equals < 1) {
        const name = equals < 0 ? part : part.slice(0, equals);
        throw new ConfigError(`connection.url: the parameter "${name}" has no value; write parameter=value`);
      }
      const name = decode(part.slice(0, equals), 'parameter name');
      this.#values.set(name.toLowerCase(), { name, value: decode(part.slice(equals + 1), `parameter ${name}`) });
    }
  }

  /** Adds values without replacing those of the URL. */
  addMissing(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      if (!this.#values.has(name.toLowerCase())) this.#values.set(name.toLowerCase(), { name, value });
    }
  }

  take(...names: string[]): string | undefined {
    let found: string | undefined;
    for (const name of names) {
      const entry = this.#values.get(name.toLowerCase());
      if (entry === undefined) continue;
      this.#values.delete(name.toLowerCase());
      found ??= entry.value;
    }
    return found;
  }

  takeSeconds(names: string[], fallback: number): number {
    const text = this.take(...names);
    if (text === undefined) return fallback;
    if (!/^\d{1,6}$/.test(text)) throw new ConfigError(`connection.url: ${names[0] ?? ''} must be whole seconds`);
    return Number(text) === 0 ? fallback : Number(text);
  }

  rest(): readonly string[] {
    return [...this.#values.values()].map((entry) => entry.name);
  }
}

function toPassword(text: string): Password | undefined {
  return text === '' ? undefined : new Password(text);
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(`connection.url: the ${what} has a % that is not followed by two hexadecimal digits`);
  }
}
