import type { Logger } from '../../observe/logger.ts';
import type { ConnectorDirectory, ConnectorStatusInfo } from '../../herder/connector-directory.ts';
import type { OffsetsPreview } from '../../herder/offsets-preview.ts';
import type { Placement } from '../../herder/group/placement.ts';

/** Number of records of a topic that a connector has not delivered. */
export interface TopicLag {
  readonly name: string;
  readonly partitions: number;
  readonly lag: number | null;
}

/** The difference between the committed offsets of a sink and the ends of its topics. */
export interface CommittedLag {
  readonly connector: string;
  readonly lag: number;
  readonly topics: readonly TopicLag[];
}

const EVERY_MS = 5000;
/** Maximum number of connectors whose offsets are read in one interval. */
const MAX_PER_INTERVAL = 20;
const MAX_TOPICS = 200;
/** States of tasks whose consumers know their lag. */
export const READING: ReadonlySet<string> = new Set(['RUNNING', 'PAUSED']);

/**
 * Reads the lags of this worker's sinks without a reading task: they are stopped, or all their tasks are failed or
 * unassigned. The lags of other sinks are reported by their tasks. The offsets of each such sink are read every five
 * seconds, or less often if there are more than twenty. The sinks are read one after another.
 */
export class CommittedLags {
  readonly #directory: Pick<ConnectorDirectory, 'names' | 'status'>;
  readonly #placement: Pick<Placement, 'ownsConnector'>;
  readonly #readOffsets: (connector: string) => Promise<OffsetsPreview>;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  readonly #lags = new Map<string, CommittedLag>();
  /** When the offsets of each connector were last read (`performance.now()`). */
  readonly #readAt = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  /**
   * `readOffsets` returns the difference between the committed offsets of a connector and the ends of its partitions.
   */
  constructor(
    directory: Pick<ConnectorDirectory, 'names' | 'status'>,
    placement: Pick<Placement, 'ownsConnector'>,
    readOffsets: (connector: string) => Promise<OffsetsPreview>,
    logger: Logger,
    intervalMs = EVERY_MS,
  ) {
    this.#directory = directory;
    this.#placement = placement;
    this.#readOffsets = readOffsets;
    this.#logger = logger;
    this.#intervalMs = intervalMs;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#read(), this.#intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  of(connector: string): CommittedLag | undefined {
    return this.#lags.get(connector);
  }

  all(): readonly CommittedLag[] {
    return [...this.#lags.values()];
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const idle = this.#idle();
      const isIdle = new Set(idle);
      for (const known of [...this.#lags.keys(), ...this.#readAt.keys()]) {
        if (isIdle.has(known)) continue;
        this.#lags.delete(known);
        this.#readAt.delete(known);
      }
      const readAt = (name: string): number => this.#readAt.get(name) ?? -Infinity;
      idle.sort((a, b) => readAt(a) - readAt(b));
      for (const name of idle.slice(0, MAX_PER_INTERVAL)) await this.#readOne(name);
    } finally {
      this.#isReading = false;
    }
  }

  /**
   * Reads the lag of one connector. If the connector was deleted or resumed meanwhile, its lag is removed at the next
   * interval.
   */
  async #readOne(connector: string): Promise<void> {
    this.#readAt.set(connector, performance.now());
    try {
      const { partitions, skipped } = await this.#readOffsets(connector);
      if (skipped === null) this.#lags.delete(connector);
      else this.#lags.set(connector, { connector, lag: skipped, topics: topicsOf(partitions) });
    } catch (error) {
      this.#lags.delete(connector);
      this.#logger.debug({ err: error, connector }, `Failed to read the offsets of connector ${connector}`);
    }
  }

  #idle(): string[] {
    const directory = this.#directory;
    const placement = this.#placement;
    return directory.names().filter((name) => {
      if (!placement.ownsConnector(name)) return false;
      const status = statusOf(directory, name);
      return status?.type === 'sink' && !status.tasks.some(([, { state }]) => READING.has(state));
    });
  }
}

function topicsOf(partitions: OffsetsPreview['partitions']): readonly TopicLag[] {
  const found = new Map<string, TopicLag>();
  for (const { partition, skipped } of partitions) {
    const name = String(partition?.['kafka_topic']);
    const known = found.get(name) ?? { name, partitions: 0, lag: 0 };
    const lag = known.lag === null || skipped === null ? null : known.lag + skipped;
    found.set(name, { name, partitions: known.partitions + 1, lag });
  }
  return [...found.values()].slice(0, MAX_TOPICS);
}

/** `undefined`: the connector was created or deleted a moment ago. */
function statusOf(directory: Pick<ConnectorDirectory, 'status'>, name: string): ConnectorStatusInfo | undefined {
  try {
    return directory.status(name);
  } catch {
    return undefined;
  }
}
