import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import type { ConnectRest } from '../support/rest.ts';
import { until } from '../support/until.ts';
import type { BenchServices } from './bench-services.ts';

const CONNECTORS = 50;

interface EmptyTopic {
  readonly name: string;
  delete(): Promise<void>;
}

/** Creates a topic with one partition. */
export async function emptyTopic({ bootstrapServers }: BenchServices): Promise<EmptyTopic> {
  const admin = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, silentLogger).admin();
  const name = `bench-idle-${String(Date.now())}`;
  await admin.createTopic({ name, partitions: 1, replicationFactor: 1, settings: {} });
  return {
    name,
    delete: async () => {
      await admin.deleteTopics([name]);
      await admin.close();
    },
  };
}

export function idleSink({ database }: BenchServices, topic: string): Record<string, string> {
  return sinkConfig({ ...database, url: '' }, { topics: topic, 'protocol.type': 'line_lp', 'tasks.max': '1' });
}

/** Runs `work` while 50 connectors with this configuration run. */
export async function withConnectors<T>(
  rest: ConnectRest,
  config: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  const names = Array.from({ length: CONNECTORS }, (_, index) => `bench-idle-${String(Date.now())}-${String(index)}`);
  for (const name of names) await rest.create(name, config);
  try {
    await until(() => allRun(rest, names), `${String(CONNECTORS)} connectors run`, {
      timeoutMs: 120_000,
      everyMs: 500,
    });
    return await work();
  } finally {
    for (const name of names) await rest.delete(`/connectors/${name}`);
  }
}

interface Expanded {
  readonly status: { readonly tasks: readonly { readonly state: string }[] };
}

async function allRun(rest: ConnectRest, names: readonly string[]): Promise<boolean> {
  const { body } = await rest.get<Record<string, Expanded>>('/connectors?expand=status');
  return names.every((name) => body[name]?.status.tasks[0]?.state === 'RUNNING');
}
