import { isSecretName } from '../../config/password.ts';
import { passwordsWithin } from '../../config/secret-values.ts';
import type { Properties } from '../../config/worker-config.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { parseJaas } from '../../tls/jaas.ts';

/** Names of files and servers are not hidden, because a report must show them. `tls.key` names a file. */
const SHOWN_NAME = /(?:url|location|source|(?:^|\.)tls\.key)$/i;

/** Hides the secrets of these properties in all findings, including messages of brokers and databases. */
export function learnSecrets(properties: Properties, secrets: SecretMask): void {
  for (const [key, value] of Object.entries(properties)) {
    for (const password of passwordsWithin(value)) secrets.add(password);
    if (!isSecretName(key) || SHOWN_NAME.test(key)) continue;
    secrets.add(value);
    if (key.endsWith('sasl.jaas.config')) learnJaas(value, secrets);
  }
}

function learnJaas(text: string, secrets: SecretMask): void {
  try {
    for (const [key, value] of Object.entries(parseJaas(text).options)) if (isSecretName(key)) secrets.add(value);
  } catch {
    // An invalid value is reported by the check that uses it.
  }
}
