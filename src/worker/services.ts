import { builtInServices } from './built-in-plugins.ts';
import { withPrefix, type WorkerConfig } from '../config/worker-config.ts';
import type { Service } from '../connect/api.ts';
import type { Logger } from '../observe/logger.ts';
import type { DatabaseApi } from '../operate/console/sql-resource.ts';
import { ServiceThread } from '../threads/service-thread.ts';
import type { ServiceAddresses } from '../threads/thread-protocol.ts';
import type { ThreadContext } from '../threads/worker-thread.ts';
import { threadEntry } from './thread-entry.ts';

/** The running services of a worker (property `services`). */
export interface RunningServices {
  /** The address of each service, by name. */
  readonly addresses: ServiceAddresses;
  stop(): Promise<void>;
}

type Surroundings = Omit<ThreadContext, 'properties' | 'mode' | 'exactlyOnceGroup'>;

/** Starts the services in a separate thread or in this thread, depending on `services.threads`. */
export async function openServices(config: WorkerConfig, surroundings: Surroundings): Promise<RunningServices> {
  const { services: names, 'services.threads': where, 'task.hang.timeout.ms': hangTimeoutMs } = config.own;
  if (names.length === 0 || where === 'main') return startServices(config, surroundings.logger);
  const thread = new ServiceThread(
    { names, hangTimeoutMs: Number(hangTimeoutMs), entry: threadEntry('./service-thread-entry') },
    { ...surroundings, properties: config.properties, mode: config.mode, exactlyOnceGroup: undefined },
  );
  return { addresses: await thread.start(), stop: () => thread.stop() };
}

/**
 * Starts the services one after another. If one of them fails to start, those that have been started are stopped. `earlier`
 * contains the addresses that the same services had in their previous thread.
 */
export async function startServices(
  config: WorkerConfig,
  logger: Logger,
  earlier: ServiceAddresses = {},
): Promise<RunningServices> {
  const running: Service[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((service) => service.stop()));
  };
  const addresses: Record<string, string> = {};
  try {
    for (const plugin of await builtInServices(config.own.services)) {
      const service = plugin.create(withPrefix(config.properties, plugin.optionPrefix), {
        logger,
        earlierAddress: earlier[plugin.name],
      });
      running.push(service);
      await service.start();
      if (service.address !== undefined) addresses[plugin.name] = service.address;
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { addresses, stop };
}

const DATABASE_API = 'database-http';

/** Returns the database's HTTP API; `undefined` if this worker does not run it. */
export async function databaseApi({ properties }: WorkerConfig, addresses: ServiceAddresses): ReturnType<DatabaseApi> {
  const url = addresses[DATABASE_API];
  if (url === undefined) return undefined;
  const [plugin] = await builtInServices([DATABASE_API]);
  if (plugin === undefined) return { url };
  const config = withPrefix(properties, plugin.optionPrefix);
  return { url, certificate: await plugin.certificate?.(config), place: plugin.databasePlace?.(config) };
}
