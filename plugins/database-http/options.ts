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
      'Where the database HTTP API listens, as `https://host:port`; no host means all addresses. Plain HTTP on the same port is redirected to https.',
    validator: distinctList({ emptyAllowed: false }),
  },
  'connection.url': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'The database server of the API: `jdbc:db://host:port` or `postgresql://host:port`, with TLS by `sslmode` and `sslrootcert`. Requests connect as their own users, to `db` or `default.database`: a database named here is ignored. A user named here (`postgresql://user@host:port`) reads and writes the cluster settings; without such a user they are read when an administrator logs in.',
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
    documentation: 'Database of requests without `db`; logins are checked there.',
    validator: nonEmptyString,
  },
  'trust.authentication': {
    type: 'STRING',
    default: 'refuse',
    importance: 'MEDIUM',
    documentation:
      'What happens if the database admits a user without asking for a password (`trust`, `peer` or `cert` in pg_hba.conf), so that any password would do: `refuse` refuses the user; `warn` admits the user with one warning in the log.',
    validator: oneOf('refuse', 'warn'),
  },
  tls: {
    type: 'STRING',
    default: 'on',
    importance: 'MEDIUM',
    documentation: '`off` serves plain HTTP, including passwords: use it only on networks that nobody else can read.',
    validator: oneOf('on', 'off'),
  },
  'tls.certificate': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'PEM file with the certificate and its chain, read again when it changes. Without one a development certificate is made.',
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
    documentation: 'Directory of the development certificate and its authority `ca.pem`.',
    validator: nonEmptyString,
  },
  nanoseconds: {
    type: 'STRING',
    default: 'floor',
    importance: 'LOW',
    documentation:
      'What happens to nanoseconds in the times of lines and points, which PostgreSQL cannot store. `floor` drops them, so that points of a series within one microsecond are one row. `spread` gives a point the next microsecond that is free for its series in the same request. `column` stores them in a column `k_nanos` of the key, which tables created under this rule have. The parameter `nanoseconds` of a request overrides this option.',
    validator: oneOf(...NANOSECOND_RULES),
  },
  'max.body.bytes': {
    type: 'LONG',
    default: 64 * 1024 * 1024,
    importance: 'MEDIUM',
    documentation: 'Bytes a request body may have after unpacking.',
    validator: atLeast(1),
  },
  'max.statement.length': {
    type: 'INT',
    default: 4 * 1024 * 1024,
    importance: 'LOW',
    documentation:
      'Characters one SQL statement may have; a body may hold 10,000. An INSERT is translated in small steps; other statements are translated only if they have at most 100,000 characters. A statement whose kind is not known after 300,000 words and signs (of WITH, EXPLAIN or parentheses) counts as one that writes.',
    validator: between(1_000, 512 * 1024 * 1024),
  },
  'statement.timeout.ms': {
    type: 'LONG',
    default: 300_000,
    importance: 'MEDIUM',
    documentation: 'Milliseconds a statement may run; 0 for no limit.',
    validator: atLeast(0),
  },
  'query.max.bytes': {
    type: 'INT',
    default: 5 * 1024 * 1024,
    importance: 'LOW',
    documentation:
      'Bytes the answer of a query may have; further rows are left out. Up to 5 MB are held until the result of the query is known; a longer answer is sent while it is read, and a failure then breaks it off.',
    validator: atLeast(1024),
  },
  'query.held.bytes': {
    type: 'LONG',
    default: 64 * 1024 * 1024,
    importance: 'LOW',
    documentation:
      'Bytes of all answers together that are held until the results of their queries are known; one user has at most half. An answer of more than 64 kB that finds no room waits `connection.wait.ms` for it, then the request is answered 503.',
    validator: atLeast(5 * 1024 * 1024),
  },
  'client.timeout.ms': {
    type: 'INT',
    default: 30_000,
    importance: 'LOW',
    documentation:
      'Milliseconds that a client may pause in the middle of its request, or while it takes its answer, before the connection is closed.',
    validator: atLeast(1),
  },
  'client.headers.timeout.ms': {
    type: 'INT',
    default: 15_000,
    importance: 'LOW',
    documentation:
      'Milliseconds a client has for the first byte, for the TLS handshake, and for the headers of a request.',
    validator: atLeast(1),
  },
  'client.request.timeout.ms': {
    type: 'INT',
    default: 300_000,
    importance: 'LOW',
    documentation:
      'Milliseconds a client has to send a whole request (64 MB need 220 kB/s), and to take an answer that is held for it (5 MB: 18 kB/s).',
    validator: atLeast(1),
  },
  'max.connections': {
    type: 'INT',
    default: 150,
    importance: 'MEDIUM',
    documentation: 'HTTP connections at the same time; further ones are answered 503.',
    validator: atLeast(1),
  },
  'address.connections': {
    type: 'INT',
    default: null,
    importance: 'LOW',
    documentation:
      'HTTP connections of one address at the same time (for IPv6, one network of 64 bits; trusted proxies have no limit); all of `max.connections` by default. When there is no room, a connection that waits for a request is closed, the one idle for longest first; one that is younger than `client.headers.timeout.ms` and has had no request is not idle, and only gives way to other addresses while its own has more than half of all connections.',
    validator: nullOr(atLeast(1)),
  },
  'access.log': {
    type: 'STRING',
    default: 'off',
    importance: 'LOW',
    documentation:
      'Requests that get a line in the log, at level INFO: `all`, `errors` (status 400 and above, and answers that broke off) or `off`. A line has user, address, method, path, status, bytes, rows, milliseconds and the request id; never parameters and bodies.',
    validator: oneOf('off', 'errors', 'all'),
  },
  'trusted.proxies': {
    type: 'LIST',
    default: '',
    importance: 'MEDIUM',
    documentation:
      'Addresses and networks (`10.0.0.0/8`) of reverse proxies in front of the API. The client of their requests is the last address in `X-Forwarded-For` that is not one of theirs; without such an address, it is the other end of the connection.',
  },
  'cors.allow.origins': {
    type: 'LIST',
    default: '',
    importance: 'LOW',
    documentation:
      'Origins of the web pages that may call the API from a browser (CORS): `https://app.example.org`, `https://*.example.org` for all names below a domain, `*` for all. Empty: none.',
  },
  'token.connections': {
    type: 'INT',
    default: 100,
    importance: 'MEDIUM',
    documentation: 'Requests at the same time with one token; further ones are answered 503.',
    validator: atLeast(1),
  },
  'user.connections': {
    type: 'INT',
    default: 16,
    importance: 'MEDIUM',
    documentation: 'Database connections per user and database, at most 30; further requests wait.',
    validator: between(1, 30),
  },
  'connection.wait.ms': {
    type: 'INT',
    default: 30_000,
    importance: 'LOW',
    documentation:
      'Milliseconds a request waits for a database connection, and for room for its answer, before it is answered 503.',
    validator: atLeast(1),
  },
  'shutdown.grace.ms': {
    type: 'INT',
    default: 10_000,
    importance: 'LOW',
    documentation: 'Milliseconds that running requests have to end when the worker stops.',
    validator: atLeast(0),
  },
});

export type ServiceSettings = ParsedOptions<typeof serviceOptions>;
