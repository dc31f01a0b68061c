import { open } from 'node:fs/promises';
import { ConfigError, toError } from '../../../src/errors.ts';

export interface PasswordKey {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Permission of users who are neither the owner nor in the group of the file. */
const OTHERS_MAY_READ = 0o004;

/**
 * The password of the first line `host:port:database:user:password` that matches (PostgreSQL documentation, "The Password File").
 * The file is read for every new connection, so that a changed password needs no restart. Throws a ConfigError when
 * the file cannot be read, when every user of the machine may read it, and when no line matches.
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

/** A backslash in front of a colon or another backslash makes it part of the field. */
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
    throw new ConfigError(`connection.url: passfile "${path}" may be read by every user of the machine: chmod o-rwx`);
  }
  return content;
}
