import {
  connectionSettings,
  connectWithAttempts,
  ConfigError,
  openExecutor,
  parseOptions,
  topicPartitionKey,
  type Executor,
  type PartitionOffset,
  type SinkRecord,
  type SinkRecordBlock,
  type SinkTask,
  type SinkTaskContext,
  type TopicPartition,
} from '../../src/index.ts';
import { createSinkDecoder, mayCreateTables, refusedByEngine } from './decoders.ts';
import { sinkOptions } from './options.ts';
import { MessageDecoder } from './record-decoder.ts';
import { TableWriter } from './table-writer.ts';
import { WriteLane } from './write-lane.ts';

/** Two writes at a time keep the database busy while this process decodes (bench/README.md: 1.7 times one). */
const LANES = 2;

/** `com.db.kafka.connect.sink.DbSinkTask`: messages of its partitions into tables, over lanes that each keep order. */
export class DbSinkTask implements SinkTask {
  #executor: Executor | undefined;
  #lanes: readonly WriteLane[] = [];
  readonly #laneOf = new Map<string, WriteLane>();
  #nextLane = 0;

  async start(context: SinkTaskContext): Promise<void> {
    const options = parseOptions(sinkOptions, context.config);
    const executor = openExecutor(connectionSettings(options), { logger: context.logger, poolSize: LANES + 1 });
    this.#executor = executor;
    const attempts = options['connection.attempts'];
    const backoffMs = options['connection.backoff.ms'];
    context.logger.info(
      `Writing ${options['protocol.type']} messages; max.retries=${String(options['max.retries'])}, retry.backoff.ms=${String(options['retry.backoff.ms'])}, connection.attempts=${String(attempts)}, connection.backoff.ms=${String(backoffMs)}`,
    );
    await connectWithAttempts(executor, { attempts, backoffMs, signal: context.signal });
    const engine = await executor.engine();
    const refused = refusedByEngine(options['protocol.type'], engine);
    if (refused !== undefined) throw new ConfigError(refused);
    const writer = new TableWriter(
      executor,
      {
        maxRetries: options['max.retries'],
        retryBackoffMs: options['retry.backoff.ms'],
        connectionAttempts: attempts,
        connectionBackoffMs: backoffMs,
        policy: {
          dedupRule: options['dedup.rule'] as 'override' | 'merge' | 'discard',
          unknownColumns: options['unknown.columns'] as 'fault' | 'ignore',
        },
        createTables: mayCreateTables(options['protocol.type']),
      },
      context.signal,
      context.logger,
    );
    this.#lanes = Array.from(
      { length: LANES },
      () =>
        new WriteLane({
          decoder: new MessageDecoder((now) =>
            createSinkDecoder(options, engine, { derivesPrimaryTag: (table) => writer.derivesPrimaryTag(table), now }),
          ),
          write: (part) => writer.write(part),
          refuse: (record, error) => context.errantRecords.report(record, error),
          onFailure: () => {
            context.requestCommit();
          },
          batchRows: options['batch.size'],
        }),
    );
  }

  async open(partitions: readonly TopicPartition[]): Promise<void> {
    for (const { topic, partition } of partitions) {
      const lane = this.#lanes[this.#nextLane++ % this.#lanes.length];
      if (lane !== undefined) this.#laneOf.set(topicPartitionKey(topic, partition), lane);
    }
    await Promise.resolve();
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    for (const lane of this.#lanes) lane.check();
    let topic: string | undefined;
    let partition = -1;
    let lane: WriteLane | undefined;
    for (const record of records) {
      const { original } = record;
      if (original.partition !== partition || original.topic !== topic) {
        ({ topic, partition } = original);
        lane = this.#laneOf.get(topicPartitionKey(topic, partition));
      }
      if (lane !== undefined && lane.add(record)) await lane.roomForMore();
    }
    for (const each of this.#lanes) each.start();
  }

  async putBlock(block: SinkRecordBlock): Promise<void> {
    const lane = this.#laneOf.get(topicPartitionKey(block.topic, block.partition));
    if (lane === undefined) return;
    lane.check();
    await lane.addBlock(block);
    lane.start();
  }

  async preCommit(delivered: ReadonlyMap<string, PartitionOffset>, flush: boolean): Promise<PartitionOffset[]> {
    if (flush) await Promise.all(this.#lanes.map((lane) => lane.flush()));
    return [...delivered].map(([key, end]) => {
      const offset = this.#laneOf.get(key)?.firstUnstored(key);
      return offset === undefined ? end : { ...end, offset };
    });
  }

  /** Groups give partitions back all at once, so nothing that waits is still ours. */
  async close(partitions: readonly TopicPartition[]): Promise<void> {
    for (const { topic, partition } of partitions) this.#laneOf.delete(topicPartitionKey(topic, partition));
    await Promise.all(this.#lanes.map((lane) => lane.drop()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drop()));
    await this.#executor?.close();
    this.#executor = undefined;
  }
}
