import { readPropertiesFile } from '../config/properties-file.ts';
import type { ClientProperties, KafkaClient } from '../kafka/api.ts';
import { createKafkaClient } from '../kafka/client.ts';
import { requireBroker } from '../kafka/first-contact.ts';
import { silentLogger } from '../observe/logger.ts';

/** Where a command finds its cluster. */
export interface ClusterChoice {
  /** `host:port,…`; absent: that of the worker file. */
  readonly bootstrapServers: string | undefined;
  /** A worker's properties: its brokers, and how it enters them (`security.…`, `sasl.…`, `ssl.…`). */
  readonly workerFile: string | undefined;
}

/** Clients of the cluster; rejects within 10 s when no broker answers. */
export async function connectTo(choice: ClusterChoice): Promise<KafkaClient> {
  const properties = await clientProperties(choice);
  await requireBroker(properties, silentLogger);
  return createKafkaClient(properties, silentLogger);
}

async function clientProperties({ bootstrapServers, workerFile }: ClusterChoice): Promise<ClientProperties> {
  const file = workerFile === undefined ? {} : await readPropertiesFile(workerFile);
  const own = Object.entries(file).filter(([name]) => /^(bootstrap\.servers$|security\.|sasl\.|ssl\.)/.test(name));
  return {
    ...Object.fromEntries(own),
    'client.id': 'sluice-console',
    'default.api.timeout.ms': '10000',
    'delivery.timeout.ms': '30000',
    'request.timeout.ms': '10000',
    ...(bootstrapServers !== undefined && { 'bootstrap.servers': bootstrapServers }),
  };
}
