import { isSecretName } from './password.ts';

const SURELY_SECRET = /passw|secret|token|credential|jaas|passphrase|user\.info$/i;
const PROVIDER_REFERENCE = /^\$\{[^{}]+\}$/;
const REFERENCES = /\$\{[^{}]+\}/g;
const URL_PASSWORD = /\/\/[^/?#@:\s]*:[^@/\s]+@|[?&;](?:password|passwd|secret|token)=[^&;\s]+/i;

/**
 * Whether nobody is to see the value of an option: by its declared type where there is one, else by its name, and any URL with
 * a password. References to config providers are no secrets.
 */
export function isSecretValue(key: string, value: string, type: string | undefined): boolean {
  if (value === '' || PROVIDER_REFERENCE.test(value)) return false;
  if (type === 'PASSWORD' || SURELY_SECRET.test(key)) return true;
  if (URL_PASSWORD.test(value.replace(REFERENCES, ''))) return true;
  return type === undefined && isSecretName(key) && !/url$/i.test(key);
}
