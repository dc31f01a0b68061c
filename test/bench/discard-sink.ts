import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchContext } from './bench-context.ts';
import { onOwnClock, stretchOf, untilAll, type Arrival, type Stretch } from './stretch.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

/** Property of the worker with the location of the sink that stores nothing. */
export const benchPlugins = { 'plugin.path': fileURLToPath(new URL('bench-plugins', import.meta.url)) };

const STRING = 'org.apache.kafka.connect.storage.StringConverter';
/** Interval of the counts; reading a small file costs next to nothing. */
const COUNTING_MS = 50;

export function discardConfig(topic: string, more: Readonly<Record<string, string>>): Record<string, string> {
  return {
    'connector.class': 'com.example.DiscardSinkConnector',
    topics: topic,
    'key.converter': STRING,
    'value.converter': STRING,
    ...more,
  };
}

/** Lets a new sink read the whole topic. The measured period is from its first batch to its last. */
export async function discardOnce(
  { rows, overrides }: BenchContext,
  { rest }: WorkerUnderTest,
  topic: string,
  options: Readonly<Record<string, string>>,
): Promise<Stretch> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-discard-'));
  const file = join(folder, 'arrivals');
  const name = `${topic}-${String(Date.now())}`;
  await rest.create(name, discardConfig(topic, { ...options, ...overrides, 'arrivals.file': file }));
  try {
    const rowsSoFar = async (): Promise<number> => (await arrivalsIn(file)).reduce((sum, each) => sum + each.rows, 0);
    const counted = await untilAll(rows, rowsSoFar, () => rest.status(name), COUNTING_MS);
    return stretchOf(await arrivalsIn(file)) ?? counted;
  } finally {
    await rest.delete(`/connectors/${name}`);
    await rm(folder, { recursive: true });
  }
}

async function arrivalsIn(file: string): Promise<readonly Arrival[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => {
    const [ms, rows] = line.split(' ');
    return { rows: Number(rows), atMs: onOwnClock(Number(ms)) };
  });
}
