import { open } from 'node:fs/promises';
import { ConfigError, toError } from '../../../src/errors.ts';

export interface PasswordKey {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Read permission for users other than the file's owner and group. */
const OTHERS_MAY_READ = 0o004;

/**
 * Returns the password of the first line `host:port:database:user:password` that matches (PostgreSQL documentation,
 * "The Password File"). The file is read for each new connection, so that a changed password needs no restart. Throws
 * ConfigError if the file cannot be read, is world-readable, or has no matching line.
 */
export async function passwordFromFile(path: string, key: PasswordKey): Promise<string> {
  const { host, port, database, user } = key;
  const wanted = [host, String(port), database, user];
  for (const line of (await read(path)).split('\n')) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line.replace(/\r$/, ''));
    const password = fields[wanted.length];
    if (password === undefined) continue;
    if (wanted.every((each, index) => fields[index]?.raw === '*' || fields[index]?.text === each)) return password.text;
  }
  throw new ConfigError(`connection.url: passfile "${path}" has no line for ${wanted.join(':')}`);
}

interface Field {
  readonly raw: string;
  readonly text: string;
}

/** A backslash escapes a colon or another backslash. */
function fieldsOf(line: string): readonly Field[] {
  const fields = line.match(/(?:^|:)(?:[^:\\]|\\.|\\$)*/g) ?? [];
  return fields.map((field, index) => {
    const raw = index === 0 ? field : field.slice(1);
    return { raw, text: raw.replace(/\\(.)/g, '$1') };
  });
}

async function read(path: string): Promise<string> {
  let mode: number;
  let content: string;
  try {
    const file = await open(path, 'r');
    try {
      ({ mode } = await file.stat());
      content = await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new ConfigError(`connection.url: passfile "${path}" cannot be read: ${toError(error).message}`);
  }
  if (process.platform !== 'win32' && (mode & OTHERS_MAY_READ) !== 0) {
    throw new ConfigError(
      `connection.url: passfile "${path}" is readable by every user of the machine: run chmod o-rwx`,
    );
  }
  return content;
}
