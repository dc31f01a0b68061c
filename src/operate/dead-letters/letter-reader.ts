import type { ConnectorConfig } from '../../connect/api.ts';
import { Turn } from '../../connect/pipeline/turn.ts';
import type { TaskClients } from '../../connect/tasks/task-clients.ts';
import { RequestError } from '../../errors.ts';
import type { Consumer, PartitionPosition } from '../../kafka/api.ts';
import { deadLetter, letterBytes, type DeadLetter } from './dead-letter.ts';
import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import { LetterPick } from './letter-pick.ts';

export interface LetterReading {
  readonly connector: string;
  readonly config: ConnectorConfig;
  readonly selection: LetterSelection;
  /** Records of the topic that are looked at, at most; absent: all that there are at the call. */
  readonly limit?: number | undefined;
}

/** How far a reading came. */
export interface LetterProgress {
  /** The dead-letter topic. */
  readonly topic: string;
  /** Records that were looked at. */
  readonly scanned: number;
  /** Letters of the connector that the selection has. */
  readonly selected: number;
  /** For each partition that was read: the next offset, and the end at the time of the call. */
  readonly partitions: readonly { readonly partition: number; readonly next: number; readonly end: number }[];
  /** Whether records are left that were not looked at. */
  readonly hasMore: boolean;
}

const TOPIC_OPTION = 'errors.deadletterqueue.topic.name';
const POLL_MS = 200;
const CLOSE_TIMEOUT_MS = 2000;

/** The dead-letter topic of a connector; `undefined` when it has none. */
export function deadLetterTopic(config: ConnectorConfig): string | undefined {
  const topic = config[TOPIC_OPTION]?.trim() ?? '';
  return topic === '' ? undefined : topic;
}

/** Reads the dead letters of connectors, with the client settings of the connector, without a group and without commits. */
export class LetterReader {
  readonly #clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>;

  constructor(clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>) {
    this.#clients = clients;
  }

  /**
   * Calls `onLetter` with each selected letter, in offset order per partition, up to what was in the topic at the call; the next
   * letter waits until it has resolved. `false`: enough. Letters of other connectors in the same topic are left out; letters
   * without context headers count as this connector's. An aborted signal ends the reading early: `hasMore` says so.
   * @throws RequestError 404: the connector has no dead-letter topic
   */
  async readLetters(
    { connector, config, selection, limit = Infinity }: LetterReading,
    onLetter: (letter: DeadLetter) => Promise<boolean | undefined> | boolean | undefined,
    signal: AbortSignal,
  ): Promise<LetterProgress> {
    const { topic, partitions } = await this.stretches(connector, config, selection);
    const stretches = partitions.filter(({ next, end }) => next < end);
    if (stretches.length === 0) return { topic, scanned: 0, selected: 0, partitions: [], hasMore: false };
    const consumer = await this.#clients.sinkConsumer({ connector, task: 0 }, readingConfig(config));
    const wakeUp = (): void => {
      consumer.wakeup();
    };
    signal.addEventListener('abort', wakeUp, { once: true });
    try {
      const scan = new Scan(consumer, topic, stretches, limit);
      const pick = new LetterPick(connector, selection);
      await scan.run(async (letter) => {
        if (!pick.has(letter)) return undefined;
        scan.selected++;
        return onLetter(letter);
      }, signal);
      return scan.progress();
    } finally {
      signal.removeEventListener('abort', wakeUp);
      await consumer.close(CLOSE_TIMEOUT_MS);
    }
  }

  /**
   * What there is to be read of each partition for a selection now.
   * @throws RequestError 404: the connector has no dead-letter topic
   */
  async stretches(
    connector: string,
    config: ConnectorConfig,
    { offsets }: LetterSelection,
  ): Promise<{ readonly topic: string; readonly partitions: Stretch[] }> {
    const topic = deadLetterTopic(config);
    if (topic === undefined) {
      throw new RequestError(404, `Connector ${connector} has no dead-letter topic (${TOPIC_OPTION})`);
    }
    const admin = this.#clients.admin(connector, config);
    let ends: readonly PartitionPosition[];
    try {
      // The task makes the topic when it starts: before that there are no letters.
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

interface Stretch {
  readonly partition: number;
  next: number;
  readonly end: number;
}

class Scan {
  readonly #consumer: Consumer;
  readonly #topic: string;
  readonly #stretches: ReadonlyMap<number, Stretch>;
  readonly #limit: number;
  #scanned = 0;
  #isOver = false;
  selected = 0;

  constructor(consumer: Consumer, topic: string, stretches: readonly Stretch[], limit: number) {
    this.#consumer = consumer;
    this.#topic = topic;
    this.#stretches = new Map(stretches.map((stretch) => [stretch.partition, stretch]));
    this.#limit = limit;
  }

  async run(onLetter: (letter: DeadLetter) => Promise<boolean | undefined>, signal: AbortSignal): Promise<void> {
    const stretches = [...this.#stretches.values()];
    this.#consumer.assign(stretches.map(({ partition }) => ({ topic: this.#topic, partition })));
    for (const { partition, next } of stretches) this.#consumer.seek({ topic: this.#topic, partition, offset: next });
    const turn = new Turn();
    while (!signal.aborted && !this.#isOver && stretches.some(({ next, end }) => next < end)) {
      for (const record of await this.#consumer.poll(POLL_MS)) {
        if (signal.aborted || this.#isOver) break;
        const stretch = this.#stretches.get(record.partition);
        if (stretch === undefined || record.offset >= stretch.end) continue;
        if (this.#scanned >= this.#limit) {
          this.#isOver = true;
          break;
        }
        this.#scanned++;
        stretch.next = record.offset + 1;
        const letter = deadLetter(record);
        if ((await onLetter(letter)) === false) this.#isOver = true;
        if (turn.isOver(letterBytes(letter))) await turn.next();
      }
      if (!this.#isOver && !signal.aborted) this.#passOverGaps();
    }
  }

  /** Control records, and records that compaction took away, have no letter; the position is behind them all the same. */
  #passOverGaps(): void {
    for (const stretch of this.#stretches.values()) {
      const position = this.#consumer.position({ topic: this.#topic, partition: stretch.partition });
      if (position !== undefined && position > stretch.next) stretch.next = Math.min(position, stretch.end);
    }
    const done = [...this.#stretches.values()].filter(({ next, end }) => next >= end);
    if (done.length > 0) this.#consumer.pause(done.map(({ partition }) => ({ topic: this.#topic, partition })));
  }

  progress(): LetterProgress {
    const partitions = [...this.#stretches.values()].map(({ partition, next, end }) => ({ partition, next, end }));
    const hasMore = partitions.some(({ next, end }) => next < end);
    return { topic: this.#topic, scanned: this.#scanned, selected: this.selected, partitions, hasMore };
  }
}

/** Read from the beginning when the first records are gone, and as no member of a group. */
function readingConfig(config: ConnectorConfig): ConnectorConfig {
  const without = new Set(['consumer.override.auto.offset.reset', 'consumer.override.group.instance.id']);
  return Object.fromEntries(Object.entries(config).filter(([key]) => !without.has(key)));
}
