import { isSecretName } from './password.ts';

const SURELY_SECRET = /passw|secret|token|credential|jaas|passphrase|user\.info$/i;
/** Applies to undeclared keys only. */
const PROBABLY_SECRET = /(?:^|[._-])(?:pwd|pass|creds?)$|(?:api|access|private|secret|account)[._-]?key$/i;
const PROVIDER_REFERENCE = /^\$\{[^{}]+\}$/;
const REFERENCES = /\$\{[^{}]+\}/g;
/**
 * Patterns of passwords within values; the first group is the password. Repetitions are bounded or end at a delimiter, so
 * that matching takes linear time.
 */
const PASSWORDS_WITHIN: readonly RegExp[] = [
  /\/\/[^/?#@:\s]*:([^@/\s]+(?:@[^@/\s]{1,128})?)@/g,
  // A password with a slash that should have been written as %2F. The lookahead excludes ports.
  /\/\/[^/?#@:\s]*:(?!\d{1,5}[/?#])([^@\s]{1,128})@/g,
  /(?:^|[?&;,\s{"'(])[\w.-]{0,64}(?:passw(?:or)?d|passphrase|pwd|secret|token|api_?key|accesskey|accountkey)\s{0,8}=\s{0,8}["']?([^&;,\s"']+)/gi,
  /"[\w.-]{0,64}(?:passw(?:or)?d|passphrase|pwd|secret|token|api_?key|access_?key)"\s{0,8}:\s{0,8}"([^"]+)"/gi,
  /(?:^|authorization["']?\s{0,8}[:=]\s{0,8}["']?)(?:basic|bearer)\s{1,8}([^\s"']{4,})/gi,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----([^-]+)/g,
];

/**
 * Whether the value of an option must be hidden, because of the declared type, the name of the option, or a password within the value
 * (a URL, a list of parameters, JSON, a header, a private key). References to config providers are not secrets.
 */
export function isSecretValue(key: string, value: string, type: string | undefined): boolean {
  if (value === '' || PROVIDER_REFERENCE.test(value)) return false;
  if (type === 'PASSWORD' || SURELY_SECRET.test(key)) return true;
  if (passwordsWithin(value.replace(REFERENCES, '')).length > 0) return true;
  return type === undefined && ((isSecretName(key) && !/url$/i.test(key)) || PROBABLY_SECRET.test(key));
}

/** The passwords within a value. */
export function passwordsWithin(value: string): readonly string[] {
  return PASSWORDS_WITHIN.flatMap((place) => [...value.matchAll(place)].flatMap(([, password]) => password ?? []));
}
