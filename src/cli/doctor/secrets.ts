import { isSecretName } from '../../config/password.ts';
import type { Properties } from '../../config/worker-config.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { parseJaas } from '../../tls/jaas.ts';

/** Of `//user:password@host`. */
const URL_PASSWORD = /\/\/[^/?#@:\s]*:([^@/\s]+)@/g;
/** Names of files and servers are what a report is about. */
const SHOWN_NAME = /(?:url|location|certificate|key|source)$/i;

/** What these properties keep secret is hidden, whatever a broker or a database says of it. */
export function learnSecrets(properties: Properties, secrets: SecretMask): void {
  for (const [key, value] of Object.entries(properties)) {
    for (const [, password = ''] of value.matchAll(URL_PASSWORD)) secrets.add(password);
    if (!isSecretName(key) || SHOWN_NAME.test(key)) continue;
    secrets.add(value);
    if (key.endsWith('sasl.jaas.config')) learnJaas(value, secrets);
  }
}

function learnJaas(text: string, secrets: SecretMask): void {
  try {
    for (const [key, value] of Object.entries(parseJaas(text).options)) if (isSecretName(key)) secrets.add(value);
  } catch {
    // Whoever uses it says what is wrong with it.
  }
}
