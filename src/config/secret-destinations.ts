import { hasVariables } from './providers/variables.ts';

type Config = Readonly<Record<string, string | null>>;

const ADDRESS =
  /(?:^|[._-])(?:ur[il]s?|hosts?|hostname|servers?|brokers?|endpoints?|address(?:es)?|port|proxy|dsn|location|user(?:name)?|database|protocol)$/i;
const CLASS = /(?:^|[._-])(?:class|type|converter)$/i;

/** Secrets that are not sent, because they are stored for another address or class than the configuration names. */
export interface Withheld {
  readonly keys: readonly string[];
  /** The keys that were changed. */
  readonly because: readonly string[];
}

/** Whether the option says where a secret goes: a host, a database, a user. */
export function isAddress(key: string): boolean {
  return ADDRESS.test(key);
}

/** Whether the option names a class or a format. */
export function isClass(key: string): boolean {
  return CLASS.test(key);
}

/** A connection URL that names a file of passwords or a service on the machine of the worker. */
const PASSWORD_SOURCE = /[?&](?:passfile|service|servicefile)=/i;

/** Keys whose values make the worker read a secret: by variables of config providers, or from a file that a connection URL names. */
export function variableKeys(config: Config): readonly string[] {
  return Object.keys(config).filter((key) => {
    const value = config[key] ?? '';
    return hasVariables(value) || PASSWORD_SOURCE.test(decoded(value));
  });
}

/** Names of parameters may be percent-encoded. */
function decoded(url: string): string {
  return url.replaceAll(/%([0-9a-f]{2})/gi, (_all, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/**
 * Which secrets of a configuration are not to be sent while it differs from the stored one. Secrets are the values of `kept`, which
 * are stored, and those of variables. An address belongs to the secrets whose keys begin with the same word; the class of the
 * connector belongs to all. A variable that is not stored for its key is withheld in any case.
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
