import { listEntries } from '../../config/list-text.ts';
import { hasVariables } from '../../config/providers/variables.ts';
import { isAddress, isClass, variableKeys, withheld } from '../../config/secret-destinations.ts';
import { isSecretValue } from '../../config/secret-values.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { RequestError } from '../../errors.ts';
import { javaRegexMatcher } from '../../java/java-regex.ts';
import { isChainOption } from './transform-options.ts';
import { optionTypes, secretKeys } from '../history/password-keys.ts';
import type { RawConnectorConfig } from '../../herder/validation.ts';
import type { PreviewRequest, StoredConnector } from './preview-request.ts';

/** A connector as it is stored, with its own secrets. */
export async function storedConnector(config: ConnectorConfig, plugins: PluginRegistry): Promise<StoredConnector> {
  return { config, kept: await secretKeys(config, plugins) };
}

const SECRETS = 'stored secrets or variables of config providers';

/**
 * Whether the preview uses secrets that the caller did not supply: stored secrets, or values of config providers. If it
 * does, the class, the addresses and, unless messages are only decoded, the formats must be those of the stored
 * configuration, and the messages must be from topics of the connector. Only passwords and addresses may contain such
 * secrets. Options that shape records must not, because records could show parts of a secret, which no mask recognizes.
 * @throws RequestError 400
 */
export async function usesStoredSecrets(request: PreviewRequest, plugins: PluginRegistry): Promise<boolean> {
  const { config, stored, records, messages, decodeOnly, topic = '' } = request;
  const before = stored?.config ?? {};
  const variables = variableKeys(config);
  const kept = [...(stored?.kept ?? [])].filter((key) => Object.hasOwn(config, key) && config[key] === before[key]);
  if (variables.length === 0 && kept.length === 0) return false;
  const changed = Object.keys({ ...before, ...config }).filter((key) => config[key] !== before[key]);
  const typeOf = await optionTypes(config, plugins);
  const shown = [
    ...variables.filter((key) => !isHiddenUse(key, typeOf(key))),
    ...(changed.some(isChainOption)
      ? kept.filter((key) => isChainOption(key) && !isClass(key) && typeOf(key) !== 'PASSWORD')
      : []),
  ];
  if (shown.length > 0) {
    throw new RequestError(
      400,
      `A preview takes ${SECRETS} in passwords and addresses only, not in ${shown.join(', ')}`,
    );
  }
  const held = withheld(config, kept, before);
  if (held.keys.length > 0) throw new RequestError(400, withheldText(held.keys, held.because));
  const formats = decodeOnly === true ? [] : changed.filter((key) => isClass(key) && !isChainOption(key));
  if (formats.length > 0) {
    throw new RequestError(400, `A preview with ${SECRETS} takes ${formats.join(', ')} only as stored`);
  }
  if (records !== undefined) return true;
  if (messages !== undefined || !readsTopic(before, topic)) {
    throw new RequestError(
      400,
      `A preview with ${SECRETS} takes only messages of the topics that the stored connector reads`,
    );
  }
  return true;
}

function withheldText(keys: readonly string[], because: readonly string[]): string {
  return `The secret of ${keys.join(', ')} is not sent to the address that ${because.join(', ')} names now: give the value`;
}

/** Whether the value is only used to connect to a service, and does not appear in records. */
function isHiddenUse(key: string, type: string | undefined): boolean {
  if (type === 'PASSWORD') return true;
  return !isChainOption(key) && (isAddress(key) || isSecretValue(key, 'any', type));
}

function readsTopic(stored: RawConnectorConfig, topic: string): boolean {
  const [names, regex] = [stored['topics'] ?? '', stored['topics.regex'] ?? ''];
  if (regex === '') return listEntries(names).includes(topic);
  return !hasVariables(regex) && javaRegexMatcher(regex)(topic);
}
