import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Consumer } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { readGolden, type Json, type JsonObject } from '../golden/golden-data.ts';

interface RecordedStep {
  readonly action: string;
  readonly request: { readonly method: string; readonly path: string; readonly body?: Json } | null;
  readonly response: { readonly status: number; readonly body: Json } | null;
  readonly records: readonly TopicRecord[];
}

interface TopicRecord {
  readonly topic: 'configs' | 'offsets' | 'status';
  readonly key: string;
  readonly value: string | null;
}

type Life = 'plain' | 'exactlyOnce';
type Written = Record<string, unknown[]>;

/** 14 bytes, and 10 in two lines: the positions that were recorded. */
const FIRST_LINES = 'line 1\nline 2\n';
const NEXT_LINES = 'abc\ndefgh\n';
const STEP_TIMEOUT_MS = 20_000;
const QUIET_MS = 100;

/** The worker's three topics as they are written. */
class StateTopics {
  readonly #consumer: Consumer;
  readonly #names: ReadonlyMap<string, TopicRecord['topic']>;
  readonly #records: TopicRecord[] = [];

  constructor({ properties }: WorkerProcess) {
    const bootstrap = { 'bootstrap.servers': properties['bootstrap.servers'] ?? '' };
    this.#consumer = createKafkaClient(bootstrap, silentLogger).consumer({ 'auto.offset.reset': 'earliest' });
    const kinds = { config: 'configs', offset: 'offsets', status: 'status' } as const;
    const names = Object.entries(kinds).map(
      ([kind, topic]) => [properties[`${kind}.storage.topic`] ?? '', topic] as const,
    );
    this.#names = new Map(names);
    this.#consumer.assign([...this.#names.keys()].map((topic) => ({ topic, partition: 0 })));
  }

  /** All that came since it was asked for last. */
  async written(): Promise<readonly TopicRecord[]> {
    for (const { topic, key, value } of await this.#consumer.poll(20)) {
      const kind = this.#names.get(topic) ?? 'configs';
      this.#records.push({ topic: kind, key: key?.toString() ?? '', value: value?.toString() ?? null });
    }
    return this.#records;
  }

  begin(): void {
    this.#records.length = 0;
  }

  close(): Promise<void> {
    return this.#consumer.close(1000);
  }
}

/**
 * Selects the part of the records that is stable between runs: values by topic and key, in their order and without repetitions;
 * and the order of keys in the config topic. Transient statuses are omitted: Java writes UNASSIGNED and RESTARTING in an order of
 * its own when one instance replaces another, with the plugin's version or without.
 */
function stable(records: readonly TopicRecord[]): Written {
  const written: Written = { 'configs in their order': [] };
  for (const { topic, key, value } of records) {
    if (topic === 'configs') written['configs in their order']?.push(key);
    const values = (written[`${topic} ${key}`] ??= []);
    const shown = stableValue(value);
    if (isPassing(values.at(-1))) values.pop();
    if (!isDeepStrictEqual(values.at(-1), shown)) values.push(shown);
  }
  return written;
}

function isPassing(value: unknown): boolean {
  return value !== null && typeof value === 'object' && 'state' in value && PASSING.has(value.state);
}

const PASSING: ReadonlySet<unknown> = new Set(['UNASSIGNED', 'RESTARTING']);

/**
 * Generations, workers, times and session keys are another run's, and so is the task that uses a topic first; of a trace the first line is compared.
 */
function stableValue(text: string | null): unknown {
  if (text === null) return null;
  return JSON.parse(text, (name, value: unknown) => {
    if (['generation', 'worker_id', 'discoverTimestamp', 'creation-timestamp'].includes(name)) return typeof value;
    if (name === 'key' && typeof value === 'string') return Buffer.from(value, 'base64').length;
    if (value !== null && typeof value === 'object' && 'discoverTimestamp' in value)
      return { ...value, task: 'number' };
    if (name === 'trace' && typeof value === 'string') return value.split('\n')[0];
    return value;
  });
}

/** The steps with names, topics and files of this run. */
function stepsOfThisRun(recorded: readonly RecordedStep[], folder: string): { topic: string; steps: RecordedStep[] } {
  const run = uniqueName('run').slice(4);
  const text = JSON.stringify(recorded)
    .replaceAll(/\b(g[je]1-t1|(?:src|snk)-[a-z])\b/g, (name) => `${name}-${run}`)
    .replaceAll('files/', `${folder}/`);
  const [topic = ''] = /g[je]1-t1-\w+/.exec(text) ?? [];
  return { topic, steps: JSON.parse(text) as RecordedStep[] };
}

describe("the worker's topics, compared with those that a Java worker wrote during the life of its connectors", () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-life-'));
  });

  after(() => rm(folder, { recursive: true }));

  for (const life of ['plain', 'exactlyOnce'] as const) {
    it(`have the same records at each step (${life})`, async function () {
      this.slow(30_000);
      const recorded = readGolden<Record<Life, RecordedStep[]>>('connect-group/topics-life.json')?.[life];
      if (recorded === undefined) return this.skip();
      const { topic, steps } = stepsOfThisRun(recorded, folder);
      await (await KafkaTraffic.shared()).createTopic(topic);
      const worker = await WorkerProcess.start({
        properties: life === 'exactlyOnce' ? { 'exactly.once.source.support': 'enabled' } : {},
      });
      const topics = new StateTopics(worker);
      const differences = new Map<string, string>();
      try {
        for (const step of steps) {
          const difference = await differenceOf(step, worker, topics);
          if (difference !== undefined) differences.set(step.action, difference);
        }
      } finally {
        await topics.close();
        await worker.discard();
      }
      const held = steps.length - differences.size;
      console.log(`      topics-life (${life}): ${String(held)} of ${String(steps.length)} recorded steps hold`);
      assert.deepEqual([...differences], []);
    });
  }

  /** Does a step; `undefined` when the answer and what was written are as recorded. */
  async function differenceOf(
    { action, request, response, records }: RecordedStep,
    worker: WorkerProcess,
    topics: StateTopics,
  ): Promise<string | undefined> {
    if (request === null) await changeFiles(action, records);
    else {
      if (request.method === 'POST' && request.path === '/connectors') await fileOf(request.body as JsonObject);
      const { status, body } = await worker.rest.request(request.method, request.path, request.body ?? undefined);
      if (status !== response?.status) return `${String(status)} ${JSON.stringify(body)}`;
    }
    const expected = stable(records);
    let seen: Written = {};
    const isSame = async (): Promise<boolean> => {
      seen = stable(await topics.written());
      return isDeepStrictEqual(seen, expected);
    };
    await until(isSame, action, { timeoutMs: STEP_TIMEOUT_MS, everyMs: 10 }).catch(() => undefined);
    const quietUntil = Date.now() + QUIET_MS;
    while (Date.now() < quietUntil) await topics.written();
    seen = stable(await topics.written());
    topics.begin();
    if (isDeepStrictEqual(seen, expected)) return undefined;
    const keys = [...new Set([...Object.keys(seen), ...Object.keys(expected)])];
    const other = keys.filter((key) => !isDeepStrictEqual(seen[key], expected[key]));
    return other
      .map((key) => `${key}: ${JSON.stringify(seen[key])}, recorded ${JSON.stringify(expected[key])}`)
      .join('\n');
  }

  /** A source's file has its first lines before the source is made. */
  async function fileOf({ config }: JsonObject): Promise<void> {
    const { 'connector.class': name, file } = config as Record<string, string>;
    if (name === 'FileStreamSource') await writeFile(file ?? '', FIRST_LINES);
  }

  async function changeFiles(action: string, [record]: readonly TopicRecord[]): Promise<void> {
    if (!action.includes('appended') || record === undefined) return;
    const [, { filename }] = JSON.parse(record.key) as [string, { filename: string }];
    await appendFile(filename, NEXT_LINES);
  }
});
