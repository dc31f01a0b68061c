import { declareOptions, type ParsedOptions } from '../../../src/config/option.ts';
import { atLeast, nonEmptyString } from '../../../src/config/validators.ts';
import { type ConnectionSettings, parseConnectionUrl } from './connection-url.ts';

const GROUP = 'Database';

export const connectionOptions = declareOptions({
  'connection.url': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'Address of the database, for example `jdbc:db://host:5432/plant`. `jdbc:postgresql://…` and `postgresql://…` work too. Separate several hosts by commas, and add parameters after a `?`: `jdbc:db://a:5432,b:5432/plant?sslmode=verify-full`. TLS is set by `sslmode`, `sslrootcert`, `sslcert` and `sslkey`; `passfile` and `service` work as in libpq.',
    validator: nonEmptyString,
    group: GROUP,
    width: 'LONG',
    displayName: 'Connection URL',
  },
  'connection.user': {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation: 'User name. Overrides the one in the URL.',
    group: GROUP,
    width: 'MEDIUM',
    displayName: 'User',
  },
  'connection.password': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Password of the user.',
    group: GROUP,
    width: 'MEDIUM',
    displayName: 'Password',
  },
  'connection.database': {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation: 'Name of the database. Overrides the one in the URL.',
    group: GROUP,
    width: 'MEDIUM',
    displayName: 'Database',
  },
  'connection.attempts': {
    type: 'INT',
    default: 3,
    importance: 'MEDIUM',
    documentation: 'Number of failed connection attempts in a row after which the database counts as unavailable.',
    validator: atLeast(1),
    group: GROUP,
    width: 'SHORT',
    displayName: 'Connection attempts',
  },
  'connection.backoff.ms': {
    type: 'INT',
    default: 5000,
    importance: 'MEDIUM',
    documentation: 'Milliseconds between connection attempts.',
    validator: atLeast(0),
    group: GROUP,
    width: 'SHORT',
    displayName: 'Connection backoff (ms)',
  },
});

export function connectionSettings(options: ParsedOptions<typeof connectionOptions>): ConnectionSettings {
  return parseConnectionUrl(options['connection.url'], {
    user: options['connection.user'],
    password: options['connection.password'],
    database: options['connection.database'],
  });
}
