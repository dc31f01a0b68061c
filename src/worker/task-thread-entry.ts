import { loadWorkerConfig } from '../config/worker-config.ts';
import { openPluginPath } from '../connect/plugins/path/plugin-path.ts';
import { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { transactionalIds } from '../connect/source/transactional-id.ts';
import { KafkaTaskClients } from '../connect/tasks/kafka-task-clients.ts';
import { TaskFactory } from '../connect/hosting/task-factory.ts';
import { TaskHost } from '../connect/hosting/task-host.ts';
import { ReplayTasks } from '../operate/dead-letters/replay-tasks.ts';
import { silentLogger } from '../observe/logger.ts';
import { reportReady, enterThread } from '../threads/inside-thread.ts';
import { RemoteOffsets } from '../threads/remote-offsets.ts';
import type { TaskControlFunctions, TaskThreadFunctions } from '../threads/thread-protocol.ts';
import { builtInPlugins } from './built-in-plugins.ts';
import { clientOverrides, metricWindow, taskDefaults } from './task-settings.ts';

/** The entry point of a thread with tasks (docs/decisions/0014-a-task-is-a-thread.md). Calls wait until the thread is ready. */
const { data, calls, board, secrets, logger } = enterThread<TaskThreadFunctions, TaskControlFunctions>(() => ({
  start: async (assignment) => {
    (await host).start(assignment);
  },
  setTargetState: async (id, state) => {
    (await host).setTargetState(id, state);
  },
  setCare: async (id, care) => {
    (await host).setCare(id, care);
  },
  setRateLimit: async (id, limit) => {
    (await host).setRateLimit(id, limit);
  },
  stop: async (ids, timeoutMs, handsOver) => (await host).stop(ids, timeoutMs, handsOver),
  reports: async () => (await host).reports(),
  faults: async (id) => (await host).faults(id),
}));

const host: Promise<TaskHost> = openHost();
await reportReady(calls, host);

async function openHost(): Promise<TaskHost> {
  const config = loadWorkerConfig({ mode: data.mode, properties: data.properties });
  // The main thread has already logged the warnings about the plugin path.
  const { plugins: external } = await openPluginPath(config.common['plugin.path'], silentLogger);
  const exactlyOnce =
    data.exactlyOnceGroup === undefined
      ? undefined
      : {
          transactionalId: transactionalIds(data.exactlyOnceGroup),
          fenceZombies: (connector: string) => calls.call('fenceZombies', connector),
        };
  const clients = new KafkaTaskClients(config.clients, clientOverrides(config), () => calls.call('taskOwner'), logger);
  const factory = new TaskFactory({
    mayWork: () => board.mayWork,
    plugins: new PluginRegistry(await builtInPlugins({ strictJson: config.own['json.converter.strict'] }), external),
    clients,
    offsets: new RemoteOffsets(calls),
    defaults: taskDefaults(config, exactlyOnce),
    secrets,
    logger,
  });
  const asGiven = { resolveAssignment: <T>(assignment: T) => Promise.resolve(assignment) };
  return new TaskHost(
    new ReplayTasks(factory, clients),
    asGiven,
    (event) => {
      calls.tell('event', event);
    },
    { window: metricWindow(config), logger },
  );
}
