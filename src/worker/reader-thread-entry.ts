import { loadWorkerConfig } from '../config/worker-config.ts';
import { KafkaTaskClients } from '../connect/tasks/kafka-task-clients.ts';
import type { DeadLetterReadingParts } from '../operate/dead-letters/dead-letter-readings.ts';
import { silentLogger } from '../observe/logger.ts';
import { reportReady, enterThread } from '../threads/inside-thread.ts';
import type { ReaderControlFunctions, ReaderThreadFunctions } from '../threads/thread-protocol.ts';
import { connectorValidation, openPlugins } from './plugins.ts';
import { performReading, type Reading } from './readings.ts';
import { clientOverrides } from './task-settings.ts';

let current = new AbortController();

/**
 * The entry point of a thread that reads topics and converts messages for users, one request at a time. Calls wait until the
 * thread is ready.
 */
const { data, calls, secrets, logger } = enterThread<ReaderThreadFunctions<Reading>, ReaderControlFunctions>(() => ({
  read: async (reading) => {
    const own = await parts;
    current = new AbortController();
    return performReading(reading, own, current.signal);
  },
  abandon: () => {
    current.abort();
  },
}));

secrets.onAdd((value) => {
  calls.tell('secretKnown', value);
});
const parts: Promise<DeadLetterReadingParts> = openParts();
await reportReady(calls, parts);

async function openParts(): Promise<DeadLetterReadingParts> {
  const config = loadWorkerConfig({ mode: data.mode, properties: data.properties });
  // The main thread has already logged the warnings about the plugin path.
  const { plugins, resolver } = await openPlugins(config, { plugins: [], secrets, logger: silentLogger });
  // A conflict between the consumer group of a sink and the worker group is not reported here, because no group is
  // joined.
  const cluster = { workerGroupId: undefined, exactlyOnceSources: data.exactlyOnceGroup !== undefined };
  const validation = connectorValidation(config, { plugins, resolver }, secrets, cluster, logger);
  // The requests do not join a group and do not write anything, so their clients need no unique name.
  const clients = new KafkaTaskClients(
    config.clients,
    clientOverrides(config),
    () => Promise.resolve('readings'),
    logger,
  );
  return { plugins, validation, clients, converterConfig: config.converterConfig, secrets, resolver };
}
