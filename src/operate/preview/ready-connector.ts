import type { ConnectorConfig } from '../../connect/api.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import type { AskedConfig, ConnectorValidation } from '../../herder/validation.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import { StageTracker } from '../../observe/stage.ts';

/** A connector whose configuration is valid, with the values of its variables. */
export interface ReadyConnector {
  readonly name: string;
  readonly isSink: boolean;
  readonly className: string;
  readonly config: ConnectorConfig;
  /** The stored configuration, with variables. */
  readonly stored: ConnectorConfig;
  /** Hides secrets and the connector's passwords in a text. */
  readonly hide: (text: string) => string;
}

interface Parts {
  readonly directory: Pick<ConnectorDirectory, 'config'>;
  readonly validation: Pick<ConnectorValidation, 'requireValidFor'>;
  readonly secrets: SecretMask;
}

/** @throws RequestError 404: no such connector; 400: its configuration is not valid */
export async function readyConnector(
  name: string,
  { directory, validation, secrets }: Parts,
  asked?: AskedConfig,
): Promise<ReadyConnector> {
  const stored = directory.config(name);
  const className = stored['connector.class'] ?? '';
  const { plugin, config, passwords } = await validation.requireValidFor(className, stored, new StageTracker(), asked);
  const mask = new SecretMask();
  for (const password of passwords) mask.add(password);
  const hide = (text: string): string => mask.hide(secrets.hide(text));
  return { name, isSink: plugin.type === 'sink', className, config, stored, hide };
}
