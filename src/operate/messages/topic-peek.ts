import type { ConnectorConfig } from '../../connect/api.ts';
import { buildConverters, withDefaultConverters } from '../../connect/pipeline/converter-builder.ts';
import { Turn } from '../../connect/pipeline/turn.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { withAdmin, type TaskClients } from '../../connect/tasks/task-clients.ts';
import { RequestError } from '../../errors.ts';
import { javaRegexMatcher } from '../../java/java-regex.ts';
import type { Admin, ConsumedRecord, PartitionPosition } from '../../kafka/api.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { StageTracker } from '../../observe/stage.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import type { ConnectorTopics } from '../../herder/connector-topics.ts';
import type { ConnectorPreview } from '../preview/connector-preview.ts';
import { hiddenInJson } from '../preview/hidden-json.ts';
import { storedConnector } from '../preview/preview-secrets.ts';
import { readyConnector, type ReadyConnector } from '../preview/ready-connector.ts';
import type { ConnectorValidation } from '../../herder/validation.ts';
import { BackwardReader, type Bounds, type ReadPartition } from './backward-reader.ts';
import type { MessagePage } from './message-answers.ts';
import { MessageDecoder } from './shown-message.ts';

/**
 * A search for messages. The newest messages come first, so a page ends at the upper bounds `offset`, `time` and
 * `before`, and the search ends at the lower bounds `fromOffset`, `fromTime` and `after`.
 */
export interface PeekQuery {
  readonly topic?: string | undefined;
  readonly partition?: number | undefined;
  /** The exact text of the decoded key; `null`: messages without a key. */
  readonly key?: string | null | undefined;
  /** A part of the text of the decoded value. */
  readonly text?: string | undefined;
  readonly fromOffset?: number | undefined;
  readonly offset?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly fromTime?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly time?: number | undefined;
  /** The member `next` of the previous page. */
  readonly before?: readonly PartitionPosition[] | undefined;
  /** The member `ends` of an earlier page, to read only newer messages. */
  readonly after?: readonly PartitionPosition[] | undefined;
  readonly limit?: number | undefined;
}

export interface MessagePlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface TopicPeekDependencies {
  readonly directory: Pick<ConnectorDirectory, 'config'>;
  readonly validation: Pick<ConnectorValidation, 'requireValidFor'>;
  readonly plugins: PluginRegistry;
  readonly preview: ConnectorPreview;
  readonly clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>;
  readonly converterConfig: ConnectorConfig;
  readonly secrets: SecretMask;
  /** Topics that a connector has used. */
  readonly topics: Pick<ConnectorTopics, 'list'>;
}

/** The validation ignores errors of options that are not needed for reading, and does not connect to the database. */
const FOR_READING = { counts: isForReading, connects: false };
const DEFAULT_LIMIT = 50;
const MAX_TOPICS = 100;
const MAX_PARTITIONS = 500;
const MAX_BYTES = 33_554_432;
const READ_MS = 8000;
const CLOSE_MS = 2000;
interface Extent extends Pick<Bounds, 'maxRecords' | 'maxWindowBytes'> {
  readonly window: number;
  /** Whether to read whole windows. Otherwise, a window is not larger than a page needs. */
  readonly isSearch: boolean;
}

/** Bounds of a page. A search examines more records; one by text in smaller windows, because it decodes the values. */
const PAGE: Extent = { maxRecords: 10_000, window: 2000, maxWindowBytes: Infinity, isSearch: false };
const KEY_SEARCH: Extent = { maxRecords: 50_000, window: 10_000, maxWindowBytes: Infinity, isSearch: true };
const TEXT_SEARCH: Extent = { maxRecords: 50_000, window: 2000, maxWindowBytes: 8_388_608, isSearch: true };
/** Small fetches, because prefetched records are discarded. */
const FETCHES = {
  'auto.offset.reset': 'earliest',
  'fetch.max.wait.ms': '100',
  'fetch.max.bytes': '8388608',
  'max.poll.records': '500',
} as const;

/**
 * The messages of the topics that a sink reads or a source has written, decoded by its converters. Nothing is written,
 * no group is joined and nothing is committed.
 */
export class TopicPeek {
  readonly #dependencies: TopicPeekDependencies;

  constructor(dependencies: TopicPeekDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * A page of messages as JSON text without secrets. `signal` aborts when the client no longer waits.
   * @throws RequestError 404: no such connector; 400: it has no such topic or partition, it has too many partitions, or
   * its configuration is not valid; 403: it is a source, and topics are not tracked
   */
  async page(connector: string, query: PeekQuery, signal: AbortSignal): Promise<string> {
    const ready = await readyConnector(connector, this.#dependencies, FOR_READING);
    return this.#page(ready, query, signal);
  }

  /**
   * A preview of what the connector would do with one message; see `ConnectorPreview`.
   * @throws RequestError 404: no such connector, or no such message; 400: the connector is not a sink, has no such
   * topic or partition, or its configuration is not valid
   */
  async preview(connector: string, place: MessagePlace, signal: AbortSignal): Promise<string> {
    const ready = await readyConnector(connector, this.#dependencies, FOR_READING);
    const { className, isSink } = ready;
    if (!isSink) throw new RequestError(400, `Connector ${connector} is not a sink`);
    const record = await this.#recordAt(ready, place, signal);
    const { plugins, preview } = this.#dependencies;
    const config = ready.stored;
    const stored = await storedConnector(config, plugins);
    return preview.preview(className, { config, stored, records: [record] }, new StageTracker(), signal);
  }

  async #page(ready: ReadyConnector, query: PeekQuery, signal: AbortSignal): Promise<string> {
    const { plugins, converterConfig } = this.#dependencies;
    const config = withDefaultConverters(ready.config, converterConfig);
    await plugins.prepare(config);
    const converters = buildConverters(config, plugins);
    const decoder = new MessageDecoder(converters);
    try {
      const { topics, partitions } = await withAdmin(this.#dependencies.clients, ready, (admin) =>
        this.#partitions(admin, ready, query),
      );
      const ends = partitions.map(({ topic, partition, low }) => ({ topic, partition, offset: low }));
      const { key, text, limit = DEFAULT_LIMIT } = query;
      const turn = new Turn();
      const keep = async (record: ConsumedRecord): Promise<boolean> => {
        if (key !== undefined) {
          if (turn.isOver(record.key?.length ?? 0)) await turn.next();
          if ((await decoder.textOf('key', record)) !== key) return false;
        }
        if (text === undefined) return true;
        if (turn.isOver(record.value?.length ?? 0)) await turn.next();
        const value = (await decoder.textOf('value', record)) ?? '';
        // Hidden texts are not found, because the results of several searches would reveal them.
        return value.includes(text) && ready.hide(value).includes(text);
      };
      const extent = text !== undefined ? TEXT_SEARCH : key !== undefined ? KEY_SEARCH : PAGE;
      const { records, scanned, next } = await this.#read(ready, partitions, extent, limit, keep, signal);
      const messages: string[] = [];
      for (const record of records) {
        const message = await decoder.shown(record);
        messages.push(hiddenInJson(JSON.stringify(message), ready.hide));
        if (turn.isOver(message.bytes)) await turn.next();
      }
      const page: Omit<MessagePage, 'messages'> = { topics, searched: scanned, next, ends };
      const head = hiddenInJson(JSON.stringify(page), ready.hide);
      return `${head.slice(0, -1)},"messages":[${messages.join(',')}]}`;
    } finally {
      converters.key.close?.();
      converters.value.close?.();
    }
  }

  async #recordAt(
    ready: ReadyConnector,
    { topic, partition, offset }: MessagePlace,
    signal: AbortSignal,
  ): Promise<ConsumedRecord> {
    const query = { topic, partition, offset };
    const { partitions } = await withAdmin(this.#dependencies.clients, ready, (admin) =>
      this.#partitions(admin, ready, query),
    );
    const all = (): Promise<boolean> => Promise.resolve(true);
    const { records } = await this.#read(ready, partitions, { ...PAGE, window: 1 }, 1, all, signal);
    const [record] = records;
    if (record?.offset === offset) return record;
    throw new RequestError(
      404,
      `Topic ${topic} has no message at offset ${String(offset)} of partition ${String(partition)}`,
    );
  }

  async #read(
    { name, config }: ReadyConnector,
    partitions: readonly ReadPartition[],
    { maxRecords, maxWindowBytes, window, isSearch }: Extent,
    limit: number,
    keep: (record: ConsumedRecord) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<{ records: readonly ConsumedRecord[]; scanned: number; next: readonly PartitionPosition[] }> {
    const filled = partitions.filter(({ begin, low }) => low > begin);
    if (filled.length === 0) return { records: [], scanned: 0, next: [] };
    const consumer = await this.#dependencies.clients.sinkConsumer(
      { connector: name, task: 0 },
      alone(config),
      FETCHES,
    );
    try {
      const bounds = { maxRecords, maxBytes: MAX_BYTES, maxWindowBytes, deadline: Date.now() + READ_MS, signal };
      const wanted = isSearch ? window : Math.min(window, limit * filled.length);
      const reader = new BackwardReader(consumer, filled, bounds, wanted);
      const records = await reader.read(limit, keep);
      return { records, scanned: reader.scanned, next: reader.next() };
    } finally {
      await consumer.close(CLOSE_MS);
    }
  }

  async #partitions(admin: Admin, { name, isSink, config }: ReadyConnector, query: PeekQuery): Promise<Found> {
    const names = isSink ? await topicNames(admin, config) : this.#dependencies.topics.list(name).sort();
    return partitionsOf(admin, names, query);
  }
}

interface Found {
  /** The first 100 existing topics of the connector, and the requested topic, with their numbers of partitions. */
  readonly topics: readonly { readonly topic: string; readonly partitions: number }[];
  readonly partitions: readonly ReadPartition[];
}

async function partitionsOf(admin: Admin, names: readonly string[], query: PeekQuery): Promise<Found> {
  const asked = names.slice(0, MAX_TOPICS);
  if (query.topic !== undefined && names.includes(query.topic)) asked.push(query.topic);
  const counts = await admin.describeTopics([...new Set(asked)]);
  const topics = [...counts]
    .map(([topic, partitions]) => ({ topic, partitions }))
    .sort((a, b) => (a.topic < b.topic ? -1 : 1));
  const { topic, partition } = query;
  if (topic !== undefined && !counts.has(topic)) {
    const isOwn = names.includes(topic);
    throw new RequestError(400, isOwn ? `There is no topic ${topic}` : `Topic ${topic} is not one of the connector`);
  }
  const chosen = topics.filter((each) => topic === undefined || each.topic === topic);
  if (partition !== undefined && !chosen.some(({ partitions }) => partition < partitions)) {
    throw new RequestError(400, `There is no partition ${String(partition)}`);
  }
  const total = partition === undefined ? chosen.reduce((sum, { partitions }) => sum + partitions, 0) : chosen.length;
  if (total > MAX_PARTITIONS) {
    throw new RequestError(
      400,
      `The topics have ${String(total)} partitions, and ${String(MAX_PARTITIONS)} are searched at once: choose a topic`,
    );
  }
  const partitions = await Promise.all(chosen.map((each) => partitionsOfTopic(admin, each.topic, query)));
  return { topics, partitions: partitions.flat() };
}

async function partitionsOfTopic(admin: Admin, topic: string, query: PeekQuery): Promise<readonly ReadPartition[]> {
  const { partition, fromOffset = 0, offset = Infinity, fromTime, time, before, after } = query;
  const [begins, ends, earlier, later] = await Promise.all([
    admin.offsetsAt(topic, 'earliest'),
    admin.endOffsets(topic),
    fromTime === undefined ? undefined : admin.offsetsAt(topic, fromTime),
    time === undefined ? undefined : admin.offsetsAt(topic, time + 1),
  ]);
  const existing = byPartition(topic, begins);
  const [timeBegin, timeEnd] = [byPartition(topic, earlier), byPartition(topic, later)];
  const [cursor, read] = [byPartition(topic, before), byPartition(topic, after)];
  return ends.flatMap(({ partition: each, offset: end }) => {
    if (partition !== undefined && each !== partition) return [];
    // A page continues only in the partitions that are in `next` of the previous page.
    const upTo = before === undefined ? Infinity : (cursor.get(each) ?? 0);
    const begin = Math.max(existing.get(each) ?? 0, fromOffset, timeBegin.get(each) ?? 0, read.get(each) ?? 0);
    const low = Math.min(end, offset + 1, timeEnd.get(each) ?? Infinity, upTo);
    return [{ topic, partition: each, begin, low: Math.max(begin, low), left: [] }];
  });
}

/** The offsets of a topic's partitions. */
function byPartition(topic: string, positions: readonly PartitionPosition[] = []): ReadonlyMap<number, number> {
  const own = positions.filter((each) => each.topic === topic);
  return new Map(own.map(({ partition, offset }) => [partition, offset]));
}

async function topicNames(admin: Admin, config: ConnectorConfig): Promise<readonly string[]> {
  const regex = config['topics.regex'] ?? '';
  if (regex === '') {
    const names = (config['topics'] ?? '').split(',').map((name) => name.trim());
    return names.filter((name) => name !== '');
  }
  const matches = javaRegexMatcher(regex);
  return (await admin.topics()).filter((topic) => matches(topic)).sort();
}

/** Errors of other options, or of the database, do not matter for reading. */
function isForReading(option: string): boolean {
  return /^(?:topics|(?:key|value|header)\.converter)(?:\.|$)/.test(option);
}

/** Removes the id of a static group member, because the consumer joins no group. */
function alone(config: ConnectorConfig): ConnectorConfig {
  const { 'consumer.override.group.instance.id': _instance, ...others } = config;
  return others;
}
