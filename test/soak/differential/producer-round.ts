import type { PackedRecords } from '../../../src/data/packed-records.ts';
import { RecordPacker } from '../../../src/data/packed-records.ts';
import type {
  ClientProperties,
  KafkaClient,
  ProducedRecord,
  Producer,
  TransactionalProducer,
} from '../../../src/kafka/api.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { KafkaError } from '../../../src/kafka/errors/kafka-errors.ts';
import { partitionOfKey } from '../../../src/kafka/producer/partitioner.ts';
import { uniqueName } from '../../support/services.ts';
import { Draw } from '../../support/random.ts';
import type { Clients } from './clients.ts';
import { javaReads } from './consumer-round.ts';
import { requireWritten, sentRecord, type Sent } from './produced-log.ts';
import { described, Difference } from './record-lines.ts';
import { drawRecord } from './record-content.ts';
import { ordinarySize, SIZES, times, topicSettings, type TopicKind } from './topic-plan.ts';

const CAN_WRITE_ZSTD = 'zstdCompressSync' in (await import('node:zlib'));
const CODECS = ['none', 'gzip', 'snappy', 'lz4', ...(CAN_WRITE_ZSTD ? ['zstd'] : [])];

interface Written {
  readonly topic: string;
  readonly kind: TopicKind;
  readonly partitions: number;
  readonly producers: number;
  /** True if the timestamps are those of the clock. */
  readonly byClock: boolean;
}

/** Faults of the brokers while records are written. */
export interface Disturbance {
  readonly replicas?: readonly (readonly number[])[];
  /** Causes faults until the writing ends. */
  readonly disturb: (topic: string, writing: Promise<unknown>, draw: Draw) => Promise<void>;
}

/**
 * Our producers write a topic that is generated from the seed. Java's consumer reads the acknowledged records, which
 * must be in order and have valid checksums. Resolves with the number of records that it read.
 */
export async function producerRound(
  seed: number,
  { client, peer }: Clients,
  disturbance?: Disturbance,
): Promise<number> {
  const draw = new Draw(seed);
  const topic = uniqueName(`differential-${String(seed)}`);
  const kind: TopicKind = draw.chance(0.2) ? 'limits' : 'ordinary';
  const producers = draw.pick([1, 1, 2, 3]);
  const settings = {
    ...topicSettings(draw, kind),
    ...(producers > 1 && { 'message.timestamp.type': 'CreateTime' }),
  };
  const partitions = disturbance?.replicas?.length ?? draw.pick([1, 1, 2, 5]);
  const written: Written = { topic, kind, partitions, producers, byClock: producers === 1 && draw.chance(0.3) };
  const writers = Array.from(
    { length: producers },
    (_none, index) => new Writer({ client, peer }, new Draw(draw.seed()), index, written, disturbance !== undefined),
  );
  try {
    const places = disturbance?.replicas === undefined ? { partitions } : { replicas: disturbance.replicas };
    await peer.command('write', { topic, producers: [], steps: [{ step: 'create', ...places, settings }] });
    const writing = Promise.all(writers.map((writer) => writer.run()));
    await disturbance?.disturb(topic, writing, draw);
    await writing;
    const transactionalIds = writers.flatMap(({ properties }) => properties['transactional.id'] ?? []);
    await peer.command('settle', { transactionalIds });
    // With a hanging writer, the broker alone determines which records can be read next.
    if (writers.some(({ isHanging }) => isHanging)) return 0;
    let records = 0;
    const sent = writers.flatMap((writer) => writer.sent).filter(({ outcome }) => outcome !== 'refused');
    for (const isolation of ['read_uncommitted', 'read_committed']) {
      const wanted = isolation === 'read_committed' ? sent.filter(({ outcome }) => outcome !== 'aborted') : sent;
      const java = await javaReads(peer, written, { 'isolation.level': isolation });
      for (const [partition, read] of java.entries()) {
        const own = wanted.filter((each) => each.partition === partition);
        requireWritten(
          `${isolation}, partition ${String(partition)}`,
          read,
          own,
          settings['message.timestamp.type'] ?? '',
        );
        records += read.lines.length;
      }
    }
    return records;
  } catch (error) {
    const properties = writers.map((writer) => writer.properties);
    throw described(error, seed, { ...written, settings, properties });
  } finally {
    await Promise.all(writers.map((writer) => writer.close()));
    await peer.command('end', { topic }).catch(() => undefined);
  }
}

class Writer {
  readonly properties: ClientProperties;
  readonly sent: Sent[] = [];
  /** True if the broker has completed a transaction without its markers. */
  isHanging = false;
  readonly #peer: Clients['peer'];
  readonly #draw: Draw;
  readonly #index: number;
  readonly #written: Written;
  readonly #isDisturbed: boolean;
  readonly #transactional: TransactionalProducer | undefined;
  readonly #producer: Producer;

  constructor(
    { client, peer }: { client: KafkaClient; peer: Clients['peer'] },
    draw: Draw,
    index: number,
    written: Written,
    isDisturbed: boolean,
  ) {
    this.#peer = peer;
    const isTransactional = written.kind !== 'limits' && draw.chance(0.4);
    const isIdempotent = isTransactional || isDisturbed || draw.chance(0.6);
    this.#draw = draw;
    this.#index = index;
    this.#written = written;
    this.#isDisturbed = isDisturbed;
    this.properties = {
      'compression.type': draw.pick(CODECS),
      'enable.idempotence': String(isIdempotent),
      acks: isIdempotent ? 'all' : draw.pick(['all', '1']),
      'max.request.size': written.kind === 'limits' ? draw.pick(['50000', '16777216']) : '16777216',
      'max.in.flight.requests.per.connection': draw.pick(['1', '2', '5']),
      ...(isTransactional && { 'transactional.id': `${written.topic}-${String(index)}` }),
    };
    this.#transactional = isTransactional ? client.transactionalProducer(this.properties) : undefined;
    this.#producer = this.#transactional ?? client.producer(this.properties);
  }

  async run(): Promise<void> {
    const draw = this.#draw;
    await this.#transactional?.init();
    for (let left = draw.between(1, 3); left > 0; left--) {
      this.#transactional?.begin();
      const own = (await Promise.all(Array.from({ length: draw.between(1, 3) }, () => this.#send()))).flat();
      if (this.#transactional === undefined) continue;
      const outcome = draw.chance(0.6) ? 'committed' : 'aborted';
      await (outcome === 'committed' ? this.#transactional.commit() : this.#transactional.abort());
      for (const each of own) each.outcome = outcome;
      if (this.#isDisturbed) await this.#look();
      if (this.isHanging) return;
    }
  }

  async close(): Promise<void> {
    await this.#producer.close(10_000);
  }

  async #look(): Promise<void> {
    const { topic } = this.#written;
    const transactionalIds = [this.properties['transactional.id']];
    const { isHanging } = await this.#peer.command<{ isHanging: boolean }>('settle', { transactionalIds, topic });
    this.isHanging = isHanging;
  }

  /** Makes one call. The next call does not wait for its result. */
  async #send(): Promise<readonly Sent[]> {
    const draw = this.#draw;
    const own = new Map<ProducedRecord, Sent>();
    const parts = draw.chance(0.2) && this.#mayPack ? this.#packed(own) : this.#records(own);
    this.sent.push(...own.values());
    for (const { records, error } of await this.#producer.trySend(parts)) {
      const isTooLarge = error instanceof KafkaError && error.code === ErrorCode.messageTooLarge;
      if (!isTooLarge || this.#written.kind !== 'limits') throw error;
      for (const record of records) this.#refused(own.get(record));
    }
    const now = Date.now();
    for (const each of own.values()) each.acknowledgedAt = now;
    return [...own.values()];
  }

  #refused(sent: Sent | undefined): void {
    if (sent === undefined) throw new Difference('a record was refused that was not sent');
    sent.outcome = 'refused';
  }

  /** Packed records have neither timestamps nor partitions of their own. */
  get #mayPack(): boolean {
    const { byClock, kind } = this.#written;
    return byClock && kind !== 'limits';
  }

  #records(own: Map<ProducedRecord, Sent>): readonly ProducedRecord[] {
    const draw = this.#draw;
    const { topic, kind, partitions, producers, byClock } = this.#written;
    const size = SIZES[kind === 'limits' && draw.chance(0.7) ? 'limits' : ordinarySize(draw)];
    const drawn = times(draw);
    // A restarted broker forgets producers whose last records have timestamps more than a day old.
    const { time, spread } = this.#isDisturbed ? { time: Date.now(), spread: 0 } : drawn;
    const shape = { ...size, headers: draw.pick([0, 0, 1, 3, 30]), nulls: draw.pick([0, 0.1, 1]) };
    const onePartition = draw.between(0, partitions - 1);
    const isSpread = draw.chance(0.5);
    return Array.from({ length: draw.between(1, size.most) }, () => {
      const content = drawRecord(draw, shape);
      const fixed = isSpread ? draw.between(0, partitions - 1) : onePartition;
      const byKey = content.key !== null && draw.chance(0.3);
      const at = Math.max(0, Math.max(0, time) + draw.between(0, spread) - Math.floor(spread / 2));
      const timestamp = byClock ? null : at - (at % producers) + this.#index;
      const record = { topic, partition: byKey ? null : fixed, timestamp, ...content };
      const partition = byKey ? partitionOfKey(content.key, partitions) : fixed;
      own.set(record, sentRecord(this.#index, partition, record));
      return record;
    });
  }

  #packed(own: Map<ProducedRecord, Sent>): readonly (ProducedRecord | PackedRecords)[] {
    const draw = this.#draw;
    const { topic, partitions } = this.#written;
    const packer = new RecordPacker(topic, 1_000);
    const size = SIZES[draw.pick(['tiny', 'small', 'medium'])];
    for (let left = draw.between(1, size.most); left > 0; left--) {
      const drawn = drawRecord(draw, { ...size, headers: 0, nulls: 0 });
      const key = partitions > 1 || draw.chance(0.5) ? (drawn.key ?? Buffer.from('key')) : null;
      const value = drawn.value ?? Buffer.alloc(0);
      packer.add(key, value);
      const record = { topic, partition: null, timestamp: null, key, value, headers: [] };
      own.set(record, sentRecord(this.#index, key === null ? 0 : partitionOfKey(key, partitions), record));
    }
    return packer.take();
  }
}
