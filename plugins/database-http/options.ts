import {
  atLeast,
  between,
  declareOptions,
  distinctList,
  nonEmptyString,
  oneOf,
  type ParsedOptions,
} from '../../src/index.ts';

/** Worker properties of the database HTTP API, without their prefix `database.http.`. */
export const serviceOptions = declareOptions({
  listeners: {
    type: 'LIST',
    default: 'https://:8080',
    importance: 'MEDIUM',
    documentation:
      'Where the database HTTP API listens, as `https://host:port`; no host means all addresses. Plain HTTP on the same port is sent to https.',
    validator: distinctList({ emptyAllowed: false }),
  },
  'connection.url': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'The server the API is a door to: `jdbc:db://host:port` or `postgresql://host:port`, with TLS by `sslmode` and `sslrootcert`. Requests connect as their own users; a user named here keeps the cluster settings, without one the first administrator who logs in does.',
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
      'What becomes of a user whom the database lets in without asking for a password (`trust`, `peer` or `cert` in pg_hba.conf), so that any password would do: `refuse`, or `warn` once in the log and let in.',
    validator: oneOf('refuse', 'warn'),
  },
  tls: {
    type: 'STRING',
    default: 'on',
    importance: 'MEDIUM',
    documentation: '`off` serves plain HTTP, passwords included: only for networks that nobody else can read.',
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
    documentation: 'Where the development certificate and its authority `ca.pem` are kept.',
    validator: nonEmptyString,
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
      'Characters one SQL statement may have; a body may hold many. Reading and translating a statement keeps other requests waiting, about 80 ms per million.',
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
    documentation: 'Bytes the answer of a query may have; further rows are left out.',
    validator: atLeast(1024),
  },
  'query.hold.ms': {
    type: 'INT',
    default: 75,
    importance: 'LOW',
    documentation:
      'Milliseconds the first bytes of a query are held back: what is known by then (failure, truncation) is told by status and header, later truncation by a trailer.',
    validator: atLeast(0),
  },
  'client.timeout.ms': {
    type: 'INT',
    default: 30_000,
    importance: 'LOW',
    documentation:
      'Milliseconds a client may send nothing in the middle of its request, or take nothing of its answer, before it is cut off.',
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
    documentation: 'Milliseconds a client has to send a whole request: 64 MB need 220 kB/s.',
    validator: atLeast(1),
  },
  'max.connections': {
    type: 'INT',
    default: 150,
    importance: 'MEDIUM',
    documentation: 'HTTP connections at the same time; further ones are answered 503.',
    validator: atLeast(1),
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
    documentation: 'Milliseconds a request waits for a database connection before it is answered 503.',
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
