import type { ClientProperties, KafkaClient } from '../../kafka/api.ts';
import { createKafkaClient } from '../../kafka/client/client.ts';
import { requireBroker } from '../../kafka/client/first-contact.ts';
import { silentLogger } from '../../observe/logger.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import { readWorkerProperties } from '../../worker/worker-properties.ts';

/** The cluster of a command. */
export interface ClusterChoice {
  /** `host:port,…`; `undefined`: the brokers of the worker file. */
  readonly bootstrapServers: string | undefined;
  /**
   * A file with a worker's properties, of which the brokers and the security settings are used (`security.…`, `sasl.…`,
   * `ssl.…`).
   */
  readonly workerFile: string | undefined;
}

/** Creates a client of the cluster. Rejects within 10 s if no broker answers. */
export async function connectTo(choice: ClusterChoice): Promise<KafkaClient> {
  const properties = await clientProperties(choice);
  await requireBroker(properties, silentLogger);
  return createKafkaClient(properties, silentLogger);
}

async function clientProperties({ bootstrapServers, workerFile }: ClusterChoice): Promise<ClientProperties> {
  const own = workerFile === undefined ? [] : Object.entries(await workerProperties(workerFile)).filter(isOfClients);
  return {
    ...Object.fromEntries(own),
    'client.id': 'sluice-console',
    'default.api.timeout.ms': '10000',
    'delivery.timeout.ms': '30000',
    'request.timeout.ms': '10000',
    ...(bootstrapServers !== undefined && { 'bootstrap.servers': bootstrapServers }),
  };
}

/** The properties of a worker file, with the values of its variables. */
async function workerProperties(file: string): Promise<Readonly<Record<string, string>>> {
  const { properties } = await readWorkerProperties(file, new SecretMask(), () => Promise.resolve(silentLogger));
  return properties;
}

function isOfClients([name]: [string, string]): boolean {
  return /^(bootstrap\.servers$|security\.|sasl\.|ssl\.)/.test(name);
}
