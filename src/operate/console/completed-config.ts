import { variableKeys, withheld, type Withheld } from '../../config/secret-destinations.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { ConfigError, RequestError, toError } from '../../errors.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import { NotOwnerError } from '../../herder/not-owner-error.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigBody } from '../../rest/request-body.ts';
import { queryText, type Context } from '../../rest/resource.ts';
import { secretKeys } from '../history/password-keys.ts';
import { configMask, missingText, withStoredValues, type CompletedConfig } from './config-secrets.ts';

/** A configuration that a browser has sent, in which stored values replace each `MARK`. */
export interface Completed extends CompletedConfig {
  readonly secrets: ReadonlySet<string>;
  readonly stored: Readonly<Record<string, string>> | undefined;
  readonly mask: SecretMask;
}

/** Completes a configuration. The query parameter `connector` names the connector whose stored values are used. */
export type Complete = (context: Context, given: ConfigBody) => Promise<Completed>;

export function completing(directory: ConnectorDirectory, plugins: PluginRegistry): Complete {
  return async (context, given) => {
    const connector = queryText(context, 'connector');
    const stored = connector === undefined ? undefined : directory.configOf(connector);
    const completed = withStoredValues(given, stored ?? {});
    const { config, kept } = completed;
    const secrets = await secretKeys(config, plugins);
    const mask = configMask(config, secrets, kept);
    return { ...completed, secrets, stored, mask };
  };
}

/**
 * The secrets that must not be sent to the systems that the configuration names. On a read-only console, these include
 * the values of all variables.
 */
export function withheldFrom({ config, kept, stored = {} }: Completed, isReadOnly: boolean): Withheld {
  const held = withheld(config, kept.keys(), stored);
  const variables = isReadOnly ? variableKeys(config) : [];
  return { keys: [...new Set([...held.keys, ...variables])], because: held.because };
}

/** @throws RequestError 400 if secrets are withheld, because `what` needs them */
export function requireGiven({ keys }: Withheld, what: string): void {
  if (keys.length > 0) throw new RequestError(400, `Enter ${keys.join(', ')} to ${what}`);
}

/** @throws RequestError 400 if a `MARK` replaces no stored value */
export function requireStored(missing: readonly string[]): void {
  if (missing.length > 0) throw new RequestError(400, missing.map(missingText).join('\n'));
}

/** Runs `work` and removes secrets from the error that it throws. */
export async function hiding<T>(mask: SecretMask, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { message } = toError(error);
    // A NotOwnerError leads to a forwarded request, not to an answer.
    if (error instanceof NotOwnerError || mask.hide(message) === message) throw error;
    const status = error instanceof RequestError ? error.status : error instanceof ConfigError ? 400 : 500;
    throw new RequestError(status, mask.hide(message));
  }
}
