import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, toError } from '../../../src/errors.ts';

type Settings = Readonly<Record<string, string>>;

/**
 * Reads a service from a connection service file (PostgreSQL documentation, "The Connection Service File"): the one
 * given by `servicefile` or PGSERVICEFILE, or else `.pg_service.conf` in the home directory and `pg_service.conf` in
 * PGSYSCONFDIR. Throws ConfigError if the service is not found, or if a file is unreadable or invalid; the message
 * contains no values of the file.
 */
export function readService(service: string, file: string | undefined): Settings {
  const { PGSERVICEFILE = '', PGSYSCONFDIR = '' } = process.env;
  const named = file ?? PGSERVICEFILE;
  const paths = named === '' ? defaultPaths(PGSYSCONFDIR) : [named];
  for (const path of paths) {
    const text = read(path, named !== '');
    const settings = text === undefined ? undefined : settingsOf(service, text, path);
    if (settings !== undefined) return settings;
  }
  throw new ConfigError(`connection.url: service "${service}" is not in ${paths.join(' or ')}`);
}

function defaultPaths(systemFolder: string): readonly string[] {
  const own = join(homedir(), '.pg_service.conf');
  return systemFolder === '' ? [own] : [own, join(systemFolder, 'pg_service.conf')];
}

function read(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!isNamed && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ConfigError(`connection.url: the service file "${path}" cannot be read: ${toError(error).message}`);
  }
}

/** As in libpq, the first of several lines with the same key counts. */
function settingsOf(service: string, text: string, path: string): Settings | undefined {
  let found: Map<string, string> | undefined;
  let isOurs = false;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('[')) {
      if (isOurs) break;
      isOurs = line === `[${service}]`;
      if (isOurs) found = new Map();
      continue;
    }
    if (!isOurs) continue;
    const equals = line.indexOf('=');
    const key = line.slice(0, Math.max(0, equals)).trim();
    if (key === '' || key === 'service' || key === 'servicefile') {
      throw new ConfigError(
        `connection.url: line ${String(index + 1)} of the service file "${path}" is not a setting of the form key=value`,
      );
    }
    if (found?.has(key) === false) found.set(key, line.slice(equals + 1).trim());
  }
  return found === undefined ? undefined : Object.fromEntries(found);
}
