import { builtInServices } from './built-in-plugins.ts';
import { withPrefix, type WorkerConfig } from '../config/worker-config.ts';
import type { Service } from '../connect/api.ts';
import type { Logger } from '../observe/logger.ts';

/** The services of a worker, by the property `services`. */
export interface RunningServices {
  /** Where each answers, by its name. */
  readonly addresses: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts them one after the other; when one cannot start, those before it are stopped and its error comes out. */
export async function startServices(config: WorkerConfig, logger: Logger): Promise<RunningServices> {
  const running: Service[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((service) => service.stop()));
  };
  const addresses: Record<string, string> = {};
  try {
    for (const plugin of await builtInServices(config.own.services)) {
      const service = plugin.create(withPrefix(config.properties, plugin.optionPrefix), { logger });
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
