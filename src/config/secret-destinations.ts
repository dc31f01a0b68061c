import { hasVariables } from './providers/variables.ts';

type Config = Readonly<Record<string, string | null>>;

const ADDRESS =
  /(?:^|[._-])(?:ur[il]s?|hosts?|hostname|servers?|brokers?|endpoints?|address(?:es)?|port|proxy|dsn|location|user(?:name)?|database|protocol)$/i;
const CLASS = /(?:^|[._-])(?:class|type|converter)$/i;

/** Secrets that must not be sent, because they were stored for another address or class. */
export interface Withheld {
  readonly keys: readonly string[];
  /** The changed keys that are the reason. */
  readonly because: readonly string[];
}

/** Whether the option determines where a secret is sent: a host, a database, a user. */
export function isAddress(key: string): boolean {
  return ADDRESS.test(key);
}

export function isClass(key: string): boolean {
  return CLASS.test(key);
}

/** Parameters of a connection URL that read passwords from a file or service definition on the worker's machine. */
const PASSWORD_SOURCE = /[?&](?:passfile|service|servicefile)=/i;

/**
 * Keys whose values make the worker read a secret: with variables of config providers, or from a file named by a connection URL.
 */
export function variableKeys(config: Config): readonly string[] {
  return Object.keys(config).filter((key) => {
    const value = config[key] ?? '';
    return hasVariables(value) || PASSWORD_SOURCE.test(decoded(value));
  });
}

/** Parameter names may be percent-encoded. */
function decoded(url: string): string {
  return url.replaceAll(/%([0-9a-f]{2})/gi, (_all, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/**
 * Determines the secrets that must not be sent while the configuration differs from the stored one. Secrets are the
 * stored values of the keys `kept`, and the values of variables.
 * - If an address or class has changed, the secrets whose keys have the same part before the first dot are withheld.
 * - If `connector.class`, or an address or class whose key has no dot, has changed, all secrets are withheld.
 * - A secret whose key has no dot is withheld if any address or class has changed.
 * - A value with variables is withheld if it differs from the stored value of its key.
 */
export function withheld(config: Config, kept: Iterable<string>, stored: Config): Withheld {
  const variables = new Set(variableKeys(config));
  const secrets = [...new Set([...kept, ...variables])];
  const keys = [...new Set([...Object.keys(config), ...Object.keys(stored)])];
  const changed = keys.filter((key) => own(config, key) !== own(stored, key));
  const isFor = (key: string, secret: string): boolean => {
    if (key === secret && variables.has(key)) return true;
    if (!isAddress(key) && !isClass(key)) return false;
    const isOfAll = key === 'connector.class' || !key.includes('.') || !secret.includes('.');
    return isOfAll || firstWord(key) === firstWord(secret);
  };
  return {
    keys: secrets.filter((secret) => changed.some((key) => isFor(key, secret))),
    because: changed.filter((key) => secrets.some((secret) => isFor(key, secret))),
  };
}

function own(config: Config, key: string): string | null | undefined {
  return Object.hasOwn(config, key) ? config[key] : undefined;
}

function firstWord(key: string): string {
  return key.slice(0, key.indexOf('.'));
}
