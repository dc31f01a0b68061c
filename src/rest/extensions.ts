import { readFileSync } from 'node:fs';
import type Koa from 'koa';
import { decode, parseProperties } from '../config/properties-file.ts';
import { ConfigError, toError } from '../errors.ts';
import { parseJaas } from '../tls/jaas.ts';
import type { Logger } from '../observe/logger.ts';
import { basicAuth, credentials } from './basic-auth.ts';

const BASIC_AUTH = /^(org\.apache\.kafka\.connect\.rest\.basic\.auth\.extension\.)?BasicAuthSecurityRestExtension$/;
const LOGIN_MODULE = 'org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule';
const OWN_OPTION = 'rest.basic.auth.credentials.file';

export interface ExtensionSettings {
  /** `rest.extension.classes` */
  readonly classes: readonly string[];
  /** `rest.basic.auth.credentials.file`, which needs no JAAS file. */
  readonly credentialsFile: string | null;
  /** `-Djava.security.auth.login.config=…` of a Java worker's `KAFKA_OPTS`. */
  readonly jaasFile: string | undefined;
}

/** The extensions that a worker names, set up in their order; a ConfigError says what is missing. */
export function restExtensions(settings: ExtensionSettings, logger: Logger): Koa.Middleware[] {
  return settings.classes.map((className) => {
    if (BASIC_AUTH.test(className)) return basicAuth(credentials(readUsers(settings, logger)));
    throw new ConfigError(
      `rest.extension.classes: there is no ${className}; this worker has BasicAuthSecurityRestExtension`,
    );
  });
}

/** The path after `-Djava.security.auth.login.config=` in the options of a JVM. */
export function jaasFileOf(javaOptions: string | undefined): string | undefined {
  const [, quoted, plain] = /-Djava\.security\.auth\.login\.config=(?:"([^"]+)"|(\S+))/.exec(javaOptions ?? '') ?? [];
  return quoted ?? plain;
}

function readUsers({ credentialsFile, jaasFile }: ExtensionSettings, logger: Logger): Record<string, string> {
  const path = credentialsFile ?? (jaasFile === undefined ? undefined : credentialsFileOf(jaasFile));
  if (path === undefined) {
    throw new ConfigError(
      `rest.extension.classes: BasicAuthSecurityRestExtension needs ${OWN_OPTION}, or KAFKA_OPTS with -Djava.security.auth.login.config naming a JAAS file`,
    );
  }
  const users = parseProperties(read(path, 'the credentials file'));
  if (Object.keys(users).length === 0) logger.warn(`${path} names no users: the REST API lets nobody in`);
  return users;
}

/** Of the login context `KafkaConnect`. */
function credentialsFileOf(jaasFile: string): string {
  const text = withoutComments(read(jaasFile, 'the JAAS file'));
  const begin = /\bKafkaConnect\s*\{/.exec(text);
  const inside = begin === null ? '' : text.slice(begin.index + begin[0].length);
  const end = inside.search(/\}\s*;/);
  const entry = inside.slice(0, end);
  if (end < 0) throw new ConfigError(`${jaasFile} has no login context KafkaConnect`);
  const { module, options } = parseJaas(entry.slice(0, entry.indexOf(';') + 1));
  if (module !== LOGIN_MODULE) throw new ConfigError(`${jaasFile}: only ${LOGIN_MODULE} can be used, not ${module}`);
  const { file = '' } = options;
  if (file === '') throw new ConfigError('Property Credentials file must be specified');
  return file;
}

/** Comments between `/*` and its end go, and lines that begin with `//` or `#`. */
function withoutComments(text: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const line = !text.includes('\n', at) ? text.length : text.indexOf('\n', at) + 1;
    const block = text.slice(at, line).indexOf('/*');
    if (/^\s*(?:\/\/|#)/.test(text.slice(at, line))) {
      at = line;
    } else if (block < 0) {
      kept += text.slice(at, line);
      at = line;
    } else {
      const close = text.indexOf('*/', at + block + 2);
      if (close < 0) return kept + text.slice(at);
      kept += text.slice(at, at + block);
      at = close + 2;
    }
  }
  return kept;
}

function read(path: string, what: string): string {
  try {
    return decode(readFileSync(path));
  } catch (error) {
    throw new ConfigError(`rest.extension.classes: ${what} cannot be read: ${toError(error).message}`);
  }
}
