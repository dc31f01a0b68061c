import {
  atLeast,
  between,
  declareOptions,
  distinctList,
  nonEmptyString,
  nullOr,
  oneOf,
  type ParsedOptions,
} from '../../src/index.ts';
import { NANOSECOND_RULES } from '../database/index.ts';

/** Worker properties of the database HTTP API, without their prefix `database.http.`. */
export const serviceOptions = declareOptions({
  listeners: {
    type: 'LIST',
    default: 'https://:8080',
    importance: 'MEDIUM',
    documentation:
      'Addresses on which the API listens, as `https://host:port`; without a host, all addresses of the machine. With TLS, plain HTTP on the same port is redirected to https.',
    validator: distinctList({ emptyAllowed: false }),
  },
  'connection.url': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'Database server of the API, for example `jdbc:db://host:5432` or `postgresql://host:5432`. TLS is set by `sslmode` and `sslrootcert`. Each request connects as its own user, to the database that its parameter `db` names, otherwise to `database.http.default.database`; a database in this URL is ignored. If the URL has a user (`postgresql://user@host:port`), the API reads and stores its cluster settings (the default time zone, and the lifetime of tokens) as this user; otherwise as an administrator (a superuser or a member of the role `admin`) who is logged in.',
    validator: nonEmptyString,
  },
  'connection.password': {
    type: 'PASSWORD',
    default: null,
    importance: 'MEDIUM',
    documentation: 'Password of the user named in the URL.',
  },
  'default.database': {
    type: 'STRING',
    default: 'defaultdb',
    importance: 'MEDIUM',
    documentation: 'Database for requests without `db`, and for checking logins.',
    validator: nonEmptyString,
  },
  'trust.authentication': {
    type: 'STRING',
    default: 'refuse',
    importance: 'MEDIUM',
    documentation:
      'What happens to a user whom the database admits without a password (`trust`, `peer` or `cert` in pg_hba.conf). `refuse` refuses the user. `warn` admits the user with any password and logs one warning.',
    validator: oneOf('refuse', 'warn'),
  },
  tls: {
    type: 'STRING',
    default: 'on',
    importance: 'MEDIUM',
    documentation: '`off` serves plain HTTP, including passwords. Use it only on networks that nobody else can read.',
    validator: oneOf('on', 'off'),
  },
  'tls.certificate': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'PEM file with the certificate and its chain. It is read again when it changes. Without it, a development certificate is created.',
  },
  'tls.key': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation: 'PEM file with the private key of the certificate.',
  },
  'tls.key.password': {
    type: 'PASSWORD',
    default: null,
    importance: 'LOW',
    documentation: 'Password of the private key.',
  },
  'tls.directory': {
    type: 'STRING',
    default: '.sluice/tls',
    importance: 'LOW',
    documentation: 'Directory of the development certificate and its CA certificate `ca.pem`.',
    validator: nonEmptyString,
  },
  nanoseconds: {
    type: 'STRING',
    default: 'floor',
    importance: 'LOW',
    documentation:
      'What happens to nanoseconds in the times of lines and points; PostgreSQL stores microseconds. `floor` drops nanoseconds, so that points of a series within one microsecond become one row. `spread` moves a point to the next microsecond that is free for its series in the same request. `column` stores the nanoseconds in a key column `k_nanos`, which only tables that were created with `column` have. The parameter `nanoseconds` of a request overrides this option.',
    validator: oneOf(...NANOSECOND_RULES),
  },
  'max.body.bytes': {
    type: 'LONG',
    default: 64 * 1024 * 1024,
    importance: 'MEDIUM',
    documentation: 'Maximum size of a request body in bytes, after decompression.',
    validator: atLeast(1),
  },
  'max.statement.length': {
    type: 'INT',
    default: 4 * 1024 * 1024,
    importance: 'LOW',
    documentation:
      'Maximum length of one SQL statement in characters. A body has at most 10,000 statements. INSERT statements are translated at any length, other statements only up to 100,000 characters. A statement counts as a write if more than 300,000 tokens precede its main keyword, in WITH, EXPLAIN or parentheses.',
    validator: between(1_000, 512 * 1024 * 1024),
  },
  'statement.timeout.ms': {
    type: 'LONG',
    default: 300_000,
    importance: 'MEDIUM',
    documentation: 'Milliseconds that a statement may run; 0 means no limit.',
    validator: atLeast(0),
  },
  'query.max.bytes': {
    type: 'INT',
    default: 5 * 1024 * 1024,
    importance: 'LOW',
    documentation:
      'Maximum size of a JSON query response in bytes; further rows are left out. A response of up to 5 MB is held until the query has ended. A longer response is sent while its rows are read, so a failure cuts it off.',
    validator: atLeast(1024),
  },
  'query.held.bytes': {
    type: 'LONG',
    default: 64 * 1024 * 1024,
    importance: 'LOW',
    documentation:
      'Maximum size of all query responses that are held until their queries have ended, in bytes. One user has at most half of it, but always enough for one response. If there is no memory for a response of more than 64 kB within `database.http.connection.wait.ms`, the request returns 503.',
    validator: atLeast(5 * 1024 * 1024),
  },
  'client.timeout.ms': {
    type: 'INT',
    default: 30_000,
    importance: 'LOW',
    documentation:
      'Milliseconds that a client may pause while it sends a request or reads a response, before the connection is closed.',
    validator: atLeast(1),
  },
  'client.headers.timeout.ms': {
    type: 'INT',
    default: 15_000,
    importance: 'LOW',
    documentation:
      'Milliseconds in which a client must send its first byte, complete the TLS handshake, and send the headers of a request.',
    validator: atLeast(1),
  },
  'client.request.timeout.ms': {
    type: 'INT',
    default: 300_000,
    importance: 'LOW',
    documentation:
      'Milliseconds in which a client must send a whole request. The client has the same time to read a held response. With the default, a request of 64 MB needs 220 kB/s.',
    validator: atLeast(1),
  },
  'max.connections': {
    type: 'INT',
    default: 150,
    importance: 'MEDIUM',
    documentation:
      'Maximum number of open HTTP connections of each listener. If no idle connection can be closed, requests on further connections return 503.',
    validator: atLeast(1),
  },
  'address.connections': {
    type: 'INT',
    default: null,
    importance: 'LOW',
    documentation:
      'Maximum number of open HTTP connections of one client address on each listener. Default: the value of `database.http.max.connections`. An IPv6 network of 64 bits counts as one address; trusted proxies have no limit. If an address is at its limit, a new connection replaces the longest idle connection of this address. If `database.http.max.connections` is reached, a new connection replaces the longest idle connection of the address that has the most connections. A new connection counts as idle only after `database.http.client.headers.timeout.ms` or its first request. Until then, it is closed only for a client with another address, and only if its own address has more than half of `database.http.max.connections`. The same applies to a connection whose request is still arriving after two seconds.',
    validator: nullOr(atLeast(1)),
  },
  'access.log': {
    type: 'STRING',
    default: 'off',
    importance: 'LOW',
    documentation:
      'Which requests are logged, at level INFO. `errors` logs requests whose response has status 400 or above, or was cut off. A line has user, address, method, path, status, bytes, rows, milliseconds and request id, but never parameters or bodies.',
    validator: oneOf('off', 'errors', 'all'),
  },
  'trusted.proxies': {
    type: 'LIST',
    default: '',
    importance: 'MEDIUM',
    documentation:
      'Addresses and networks of reverse proxies in front of the API, for example `10.0.0.0/8,192.168.1.7`. The address of the client is the last address in `X-Forwarded-For` that is not one of these proxies. If all are proxies, it is the first one; without the header, it is the address of the connection.',
  },
  'cors.allow.origins': {
    type: 'LIST',
    default: '',
    importance: 'LOW',
    documentation:
      'Origins of web pages that may call the API (CORS), for example `https://app.example.org`; empty: no origins. `https://*.example.org` allows all names below a domain, `*` allows all origins.',
  },
  'token.connections': {
    type: 'INT',
    default: 100,
    importance: 'MEDIUM',
    documentation: 'Maximum number of concurrent requests with one token. Further requests return 503.',
    validator: atLeast(1),
  },
  'user.connections': {
    type: 'INT',
    default: 16,
    importance: 'MEDIUM',
    documentation:
      'Maximum number of requests per user and database that use a database connection at the same time. Further requests wait. Table look-ups of these requests may use two more connections.',
    validator: between(1, 30),
  },
  'connection.wait.ms': {
    type: 'INT',
    default: 30_000,
    importance: 'LOW',
    documentation:
      'Milliseconds that a request waits for a database connection, or for memory for its response, before it returns 503.',
    validator: atLeast(1),
  },
  'shutdown.grace.ms': {
    type: 'INT',
    default: 10_000,
    importance: 'LOW',
    documentation:
      'Milliseconds that running requests have to finish when the worker stops. After that, their statements are cancelled.',
    validator: atLeast(0),
  },
});

export type ServiceSettings = ParsedOptions<typeof serviceOptions>;
