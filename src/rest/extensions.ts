import { readFileSync } from 'node:fs';
import type Koa from 'koa';
import { decode, parseProperties } from '../config/properties-file.ts';
import { ConfigError, toError } from '../errors.ts';
import { loginModule } from '../tls/jaas-file.ts';
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
  /** The path in `-Djava.security.auth.login.config=…` of the variable `KAFKA_OPTS`, which Java's workers use too. */
  readonly jaasFile: string | undefined;
}

/** The extensions of a worker, set up in their order. Throws a ConfigError that says what is missing. */
export function restExtensions(settings: ExtensionSettings, logger: Logger): Koa.Middleware[] {
  return settings.classes.map((className) => {
    if (BASIC_AUTH.test(className)) return basicAuth(credentials(readUsers(settings, logger)));
    throw new ConfigError(
      `rest.extension.classes: there is no ${className}; this worker has BasicAuthSecurityRestExtension`,
    );
  });
}

function readUsers({ credentialsFile, jaasFile }: ExtensionSettings, logger: Logger): Record<string, string> {
  const path = credentialsFile ?? (jaasFile === undefined ? undefined : credentialsFileOf(jaasFile));
  if (path === undefined) {
    throw new ConfigError(
      `rest.extension.classes: BasicAuthSecurityRestExtension needs ${OWN_OPTION}, or KAFKA_OPTS with -Djava.security.auth.login.config naming a JAAS file`,
    );
  }
  const users = parseProperties(read(path));
  if (Object.keys(users).length === 0) logger.warn(`${path} names no users: the REST API refuses every request`);
  return users;
}

/** The path of the credentials file, which the login context `KafkaConnect` of the JAAS file contains. */
function credentialsFileOf(jaasFile: string): string {
  const login = loginModule(jaasFile, 'KafkaConnect');
  if (login === undefined) throw new ConfigError(`${jaasFile} has no login context KafkaConnect`);
  const { module, options } = login;
  if (module !== LOGIN_MODULE) throw new ConfigError(`${jaasFile}: only ${LOGIN_MODULE} can be used, not ${module}`);
  const { file = '' } = options;
  if (file === '') throw new ConfigError('Property Credentials file must be specified');
  return file;
}

function read(path: string): string {
  try {
    return decode(readFileSync(path));
  } catch (error) {
    throw new ConfigError(`rest.extension.classes: the credentials file cannot be read: ${toError(error).message}`);
  }
}
