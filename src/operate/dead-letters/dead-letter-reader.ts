import type { ConnectorConfig } from '../../connect/api.ts';
import { Turn } from '../../connect/pipeline/turn.ts';
import type { FixedProperties, TaskClients } from '../../connect/tasks/task-clients.ts';
import { RequestError } from '../../errors.ts';
import type { Consumer, PartitionPosition } from '../../kafka/api.ts';
import { parseDeadLetter, recordBytes, type DeadLetterRecord } from './dead-letter-record.ts';
import type { DeadLetterSelection } from '../../connect/dead-letters/dead-letter-selection.ts';
import { SelectionMatcher } from './selection-matcher.ts';

export interface DeadLetterReading {
  readonly connector: string;
  readonly config: ConnectorConfig;
  readonly selection: DeadLetterSelection;
  /** Maximum number of records of the topic that are examined; absent: all that exist at the call. */
  readonly limit?: number | undefined;
}

/** How far the topic was read, and how many records were found. */
export interface ReadingProgress {
  /** The dead-letter topic. */
  readonly topic: string;
  /** Number of examined records. */
  readonly scanned: number;
  /** Number of the connector's records that are in the selection. */
  readonly selected: number;
  /** The next offset of each partition that was read, and its end at the time of the call. */
  readonly partitions: readonly { readonly partition: number; readonly next: number; readonly end: number }[];
  /** Whether some records were not examined. */
  readonly hasMore: boolean;
}

const TOPIC_OPTION = 'errors.deadletterqueue.topic.name';
const POLL_MS = 200;
const CLOSE_TIMEOUT_MS = 2000;
/** If the first records of a range no longer exist, reading starts at the earliest existing one. No group is joined. */
const READING: FixedProperties = { 'auto.offset.reset': 'earliest', 'group.instance.id': undefined };

/** The dead-letter topic of a connector; `undefined` when it has none. */
export function deadLetterTopic(config: ConnectorConfig): string | undefined {
  const topic = config[TOPIC_OPTION]?.trim() ?? '';
  return topic === '' ? undefined : topic;
}

/**
 * Reads the dead-letter topics of connectors with the client settings of the connector, without a group and without
 * commits.
 */
export class DeadLetterReader {
  readonly #clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>;

  constructor(clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>) {
    this.#clients = clients;
  }

  /**
   * Calls `onRecord` with each selected record, in offset order per partition, up to the end of the topic at the time
   * of the call. The next record waits until `onRecord` has resolved; if `onRecord` returns `false`, no more records
   * are read. Records of other connectors in the same topic are skipped; records without context headers count as this
   * connector's. If the signal aborts, reading ends early, and `hasMore` says whether records are left.
   * @throws RequestError 404: the connector has no dead-letter topic
   */
  async readDeadLetters(
    { connector, config, selection, limit = Infinity }: DeadLetterReading,
    onRecord: (deadLetter: DeadLetterRecord) => Promise<boolean | undefined> | boolean | undefined,
    signal: AbortSignal,
  ): Promise<ReadingProgress> {
    const { topic, partitions } = await this.ranges(connector, config, selection);
    const ranges = partitions.filter(({ next, end }) => next < end);
    if (ranges.length === 0) return { topic, scanned: 0, selected: 0, partitions: [], hasMore: false };
    const consumer = await this.#clients.sinkConsumer({ connector, task: 0 }, config, READING);
    const wakeUp = (): void => {
      consumer.wakeup();
    };
    signal.addEventListener('abort', wakeUp, { once: true });
    try {
      const scan = new Scan(consumer, topic, ranges, limit);
      const matcher = new SelectionMatcher(connector, selection);
      await scan.run(async (deadLetter) => {
        if (!matcher.has(deadLetter)) return undefined;
        scan.selected++;
        return onRecord(deadLetter);
      }, signal);
      return scan.progress();
    } finally {
      signal.removeEventListener('abort', wakeUp);
      await consumer.close(CLOSE_TIMEOUT_MS);
    }
  }

  /**
   * The offset range of each partition that the selection covers at the time of the call.
   * @throws RequestError 404: the connector has no dead-letter topic
   */
  async ranges(
    connector: string,
    config: ConnectorConfig,
    { offsets }: DeadLetterSelection,
  ): Promise<{ readonly topic: string; readonly partitions: PartitionRange[] }> {
    const topic = deadLetterTopic(config);
    if (topic === undefined) {
      throw new RequestError(404, `Connector ${connector} has no dead-letter topic (${TOPIC_OPTION})`);
    }
    const admin = this.#clients.admin(connector, config);
    let ends: readonly PartitionPosition[];
    try {
      // The task creates the topic when it starts; before that there are no records.
      if (!(await admin.describeTopics([topic])).has(topic)) return { topic, partitions: [] };
      ends = await admin.endOffsets(topic);
    } finally {
      await admin.close();
    }
    const partitions = ends.flatMap(({ partition, offset }) => {
      if (offsets === undefined) return [{ partition, next: 0, end: offset }];
      const ranges = offsets.filter((range) => range.partition === partition);
      if (ranges.length === 0) return [];
      const next = Math.min(...ranges.map(({ from = 0 }) => from));
      const last = Math.max(...ranges.map(({ to = Infinity }) => to));
      return [{ partition, next, end: Math.min(offset, last + 1) }];
    });
    return { topic, partitions };
  }
}

interface PartitionRange {
  readonly partition: number;
  next: number;
  readonly end: number;
}

class Scan {
  readonly #consumer: Consumer;
  readonly #topic: string;
  readonly #ranges: ReadonlyMap<number, PartitionRange>;
  readonly #limit: number;
  #scanned = 0;
  #isOver = false;
  selected = 0;

  constructor(consumer: Consumer, topic: string, ranges: readonly PartitionRange[], limit: number) {
    this.#consumer = consumer;
    this.#topic = topic;
    this.#ranges = new Map(ranges.map((range) => [range.partition, range]));
    this.#limit = limit;
  }

  async run(
    onRecord: (deadLetter: DeadLetterRecord) => Promise<boolean | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const ranges = [...this.#ranges.values()];
    this.#consumer.assign(ranges.map(({ partition }) => ({ topic: this.#topic, partition })));
    for (const { partition, next } of ranges) this.#consumer.seek({ topic: this.#topic, partition, offset: next });
    const turn = new Turn();
    while (!signal.aborted && !this.#isOver && ranges.some(({ next, end }) => next < end)) {
      for (const record of await this.#consumer.poll(POLL_MS)) {
        if (signal.aborted || this.#isOver) break;
        const range = this.#ranges.get(record.partition);
        if (range === undefined || record.offset >= range.end) continue;
        if (this.#scanned >= this.#limit) {
          this.#isOver = true;
          break;
        }
        this.#scanned++;
        range.next = record.offset + 1;
        const deadLetter = parseDeadLetter(record);
        if ((await onRecord(deadLetter)) === false) this.#isOver = true;
        if (turn.isOver(recordBytes(deadLetter))) await turn.next();
      }
      if (!this.#isOver && !signal.aborted) this.#passOverGaps();
    }
  }

  /** Moves ranges past offsets without records: those of control records and of records that compaction has removed. */
  #passOverGaps(): void {
    for (const range of this.#ranges.values()) {
      const position = this.#consumer.position({ topic: this.#topic, partition: range.partition });
      if (position !== undefined && position > range.next) range.next = Math.min(position, range.end);
    }
    const done = [...this.#ranges.values()].filter(({ next, end }) => next >= end);
    if (done.length > 0) this.#consumer.pause(done.map(({ partition }) => ({ topic: this.#topic, partition })));
  }

  progress(): ReadingProgress {
    const partitions = [...this.#ranges.values()].map(({ partition, next, end }) => ({ partition, next, end }));
    const hasMore = partitions.some(({ next, end }) => next < end);
    return { topic: this.#topic, scanned: this.#scanned, selected: this.selected, partitions, hasMore };
  }
}
