import type { Admin, Consumer, Producer, TransactionalProducer } from '../../kafka/api.ts';
import type { ConnectorConfig } from '../api.ts';
import type { TaskId } from '../task-assignment.ts';

export type FixedProperties = Readonly<Record<string, string | undefined>>;

/**
 * Opens the Kafka clients of tasks with the settings that Connect defines: Connect's defaults, then the worker's `consumer.*`,
 * `producer.*` and `admin.*`, then the connector's `*.override.*`.
 */
export interface TaskClients {
  /** `fixed` contains settings that cannot be overridden. A setting that is `undefined` there is removed. */
  sinkConsumer(id: TaskId, config: ConnectorConfig, fixed?: FixedProperties): Promise<Consumer>;
  sourceProducer(id: TaskId, config: ConnectorConfig): Producer;
  /** Opens the producer for exactly-once delivery. */
  sourceTransactions(id: TaskId, config: ConnectorConfig, transactionalId: string): TransactionalProducer;
  deadLetterProducer(id: TaskId, config: ConnectorConfig): Producer;
  admin(connector: string, config: ConnectorConfig): Admin;
}

/** Calls `work` with an admin client of the connector, and closes the client afterwards. */
export async function withAdmin<T>(
  clients: Pick<TaskClients, 'admin'>,
  { name, config }: { readonly name: string; readonly config: ConnectorConfig },
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = clients.admin(name, config);
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
