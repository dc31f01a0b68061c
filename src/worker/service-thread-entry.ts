import { loadWorkerConfig } from '../config/worker-config.ts';
import { enterThread } from '../threads/inside-thread.ts';
import type { ControlFunctions, ServiceThreadFunctions } from '../threads/thread-protocol.ts';
import { builtInServices } from './built-in-plugins.ts';
import { startServices, type RunningServices } from './services.ts';

let running: Promise<RunningServices> | undefined;

/**
 * The entry point of the thread in which services run (docs/decisions/0014-a-task-is-a-thread.md). If `start` is called
 * before the thread is ready, it waits until the services are loaded.
 */
const { data, calls, logger } = enterThread<ServiceThreadFunctions, ControlFunctions>(() => ({
  start: async (earlier) => {
    running = startServices(config, logger, earlier);
    return (await running).addresses;
  },
  stop: async () => {
    const started = await running?.catch(() => undefined);
    await started?.stop();
  },
}));

const config = loadWorkerConfig({ mode: data.mode, properties: data.properties });
// Loads the services in advance, because loading can take long and must not count as a hang. `start` reports invalid names.
await builtInServices(config.own.services).catch(() => undefined);
calls.tell('ready');
