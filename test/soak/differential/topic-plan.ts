import type { Draw } from '../../support/random.ts';

type Settings = Readonly<Record<string, string>>;

interface SendStep {
  readonly step: 'send';
  readonly producer: number;
  readonly partition: number;
  readonly count: number;
  readonly seed: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Number of keys; 0 for any number, including null. */
  readonly keys: number;
  /** Maximum number of headers of a record. */
  readonly headers: number;
  /** Share of keys and values that are null. */
  readonly nulls: number;
  /** Share of a value that is incompressible. */
  readonly noise: number;
  /** In milliseconds; -1 for the producer's clock. */
  readonly time: number;
  readonly spread: number;
}

export type Step =
  | SendStep
  | { readonly step: 'create'; readonly partitions: number; readonly settings: Settings }
  | { readonly step: 'create'; readonly replicas: readonly (readonly number[])[]; readonly settings: Settings }
  | { readonly step: 'begin' | 'commit' | 'abort'; readonly producer: number }
  | { readonly step: 'alter'; readonly settings: Settings }
  | { readonly step: 'delete'; readonly partition: number; readonly share: number }
  | { readonly step: 'compact'; readonly partition: number };

/** How Java's producers write a topic (java-peer/Peer.java). */
export interface TopicPlan {
  readonly topic: string;
  readonly partitions: number;
  readonly producers: readonly { readonly settings: Settings }[];
  readonly steps: readonly Step[];
  readonly isTransactional: boolean;
}

export type TopicKind = 'ordinary' | 'compacted' | 'limits' | 'replicated';

/** Size limit of a batch in topics of the kind `limits`. */
const LIMIT_BYTES = 100_000;

/** Lengths of values, from 0 to `maxBytes`; most values are short. */
export const SIZES = {
  tiny: { minBytes: 0, maxBytes: 20, most: 600, noise: 1 },
  small: { minBytes: 0, maxBytes: 400, most: 300, noise: 0.5 },
  medium: { minBytes: 0, maxBytes: 20_000, most: 60, noise: 0.5 },
  large: { minBytes: 0, maxBytes: 1_000_000, most: 4, noise: 0.5 },
  huge: { minBytes: 1_000_000, maxBytes: 5_000_000, most: 2, noise: 0.5 },
  /** Such a value is compressed to some kilobytes. */
  swelling: { minBytes: 500_000, maxBytes: 4_000_000, most: 4, noise: 0.001 },
  limits: { minBytes: LIMIT_BYTES - 300, maxBytes: LIMIT_BYTES + 100, most: 6, noise: 1 },
} as const;
export type SizeName = keyof typeof SIZES;

export function ordinarySize(draw: Draw): SizeName {
  return draw.chance(0.85) ? draw.pick(['tiny', 'small', 'small', 'medium']) : draw.pick(['large', 'swelling', 'huge']);
}

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const LEVELS = { gzip: ['-1', '1', '9'], lz4: ['9', '1', '17'], zstd: ['3', '3', '1', '-50', '19'] } as const;
const BROKER_CODECS = ['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
/**
 * Maximum number of batches of one call. Each batch may need a request to be read, and a seed should take less than a
 * second.
 */
const MOST_BATCHES = 25;
const FOREVER = '9223372036854775807';

export function topicSettings(draw: Draw, kind: TopicKind): Settings {
  return {
    'max.message.bytes': String(kind === 'limits' ? LIMIT_BYTES : 16_777_216),
    // Timestamps may have any value, so records do not expire and segments are not rolled by time.
    'retention.ms': '-1',
    'message.timestamp.after.max.ms': FOREVER,
    'segment.ms': kind === 'compacted' ? '1' : FOREVER,
    'message.timestamp.type': draw.chance(0.2) ? 'LogAppendTime' : 'CreateTime',
    'compression.type': draw.chance(0.75) ? 'producer' : draw.pick(BROKER_CODECS),
    ...(kind === 'compacted' && {
      'cleanup.policy': 'compact',
      'min.cleanable.dirty.ratio': '0',
      'delete.retention.ms': draw.pick(['0', '86400000']),
    }),
  };
}

/** Returns the timestamps of a call: those of the clock, arbitrary ones, or widely scattered ones. */
export function times(draw: Draw): { readonly time: number; readonly spread: number } {
  return draw.pick([
    { time: -1, spread: 0 },
    { time: 1_700_000_000_000, spread: 0 },
    { time: 1_700_000_000_000, spread: 100_000 },
    { time: 0, spread: 10 },
    { time: 4_000_000_000_000, spread: 8_000_000_000_000 },
  ]);
}

function topicKind(draw: Draw): TopicKind {
  return draw.chance(0.75) ? 'ordinary' : draw.pick<TopicKind>(['compacted', 'limits']);
}

export function topicPlan(draw: Draw, topic: string): TopicPlan {
  const kind = topicKind(draw);
  const partitions = draw.pick([1, 1, 1, 2, 3]);
  return new Planner(draw, topic, kind, partitions).plan({
    step: 'create',
    partitions,
    settings: topicSettings(draw, kind),
  });
}

/** Returns a plan without deletions, for a reader that reads while the topic is written. */
export function replicatedPlan(draw: Draw, topic: string, replicas: readonly (readonly number[])[]): TopicPlan {
  const planner = new Planner(draw, topic, 'replicated', replicas.length);
  return planner.plan({ step: 'create', replicas, settings: topicSettings(draw, 'replicated') });
}

class Planner {
  readonly #draw: Draw;
  readonly #topic: string;
  readonly #kind: TopicKind;
  readonly #partitions: number;
  readonly #producers: { settings: Settings; isTransactional: boolean; batchBytes: number; isOpen: boolean }[] = [];
  readonly #steps: Step[] = [];

  constructor(draw: Draw, topic: string, kind: TopicKind, partitions: number) {
    this.#draw = draw;
    this.#topic = topic;
    this.#kind = kind;
    this.#partitions = partitions;
  }

  plan(create: Step): TopicPlan {
    const draw = this.#draw;
    this.#steps.push(create);
    for (let number = 0, count = draw.between(1, 3); number < count; number++) this.#addProducer(number);
    this.#write(draw.between(1, 6));
    if (this.#kind === 'compacted') {
      this.#endTransactions();
      for (let partition = 0; partition < this.#partitions; partition++) {
        this.#steps.push({ step: 'compact', partition });
      }
      // No record is removed while the topic is read.
      this.#steps.push({ step: 'alter', settings: { 'cleanup.policy': 'delete', 'segment.ms': FOREVER } });
      this.#write(draw.between(0, 3));
    } else if (this.#kind !== 'replicated' && draw.chance(0.2)) {
      const partition = draw.between(0, this.#partitions - 1);
      this.#steps.push({ step: 'delete', partition, share: draw.pick([0.1, 0.5, 0.9, 1]) });
      if (draw.chance(0.5)) this.#write(1);
    }
    if (draw.chance(0.85)) this.#endTransactions();
    return {
      topic: this.#topic,
      partitions: this.#partitions,
      producers: this.#producers.map(({ settings }) => ({ settings })),
      steps: this.#steps,
      isTransactional: this.#producers.some(({ isTransactional }) => isTransactional),
    };
  }

  #addProducer(number: number): void {
    const draw = this.#draw;
    // A rejected record makes its transaction fail.
    const isTransactional = this.#kind !== 'limits' && draw.chance(0.4);
    const batchBytes = draw.pick([0, 1, 200, 1_000, 16_384, 16_384, 131_072, 1_048_576]);
    const codec = draw.pick(CODECS);
    const settings: Settings = {
      'compression.type': codec,
      ...(codec !== 'none' && codec !== 'snappy' && { [`compression.${codec}.level`]: draw.pick(LEVELS[codec]) }),
      'batch.size': String(batchBytes),
      // Batches are sent when they are full or when a call is complete.
      'linger.ms': '1000',
      'max.request.size': '16777216',
      'enable.idempotence': String(isTransactional || draw.chance(0.5)),
      ...(isTransactional && {
        'transactional.id': `${this.#topic}-${String(number)}`,
        'transaction.timeout.ms': '600000',
      }),
    };
    this.#producers.push({ settings, isTransactional, batchBytes, isOpen: false });
  }

  #write(steps: number): void {
    const draw = this.#draw;
    for (let left = steps; left > 0; left--) {
      const number = draw.between(0, this.#producers.length - 1);
      const producer = this.#producers[number];
      if (producer === undefined) continue;
      if (producer.isTransactional && !producer.isOpen) {
        this.#steps.push({ step: 'begin', producer: number });
        producer.isOpen = true;
      }
      this.#send(number, producer.batchBytes);
      if (producer.isOpen && draw.chance(0.6)) this.#end(number);
      if (draw.chance(0.08)) this.#alter();
    }
  }

  #send(producer: number, batchBytes: number): void {
    const draw = this.#draw;
    const isCompacted = this.#kind === 'compacted';
    const name = this.#kind === 'limits' && draw.chance(0.7) ? 'limits' : ordinarySize(draw);
    const size = SIZES[isCompacted && name === 'tiny' ? 'small' : name];
    const inBatch = Math.max(1, (3 * batchBytes) / size.maxBytes);
    this.#steps.push({
      step: 'send',
      producer,
      partition: draw.chance(0.15) ? -1 : draw.between(0, this.#partitions - 1),
      count: draw.between(1, Math.min(size.most, MOST_BATCHES * inBatch, isCompacted ? 200 : Infinity)),
      seed: draw.seed(),
      minBytes: size.minBytes,
      maxBytes: size.maxBytes,
      keys: isCompacted ? draw.pick([3, 20, 500]) : draw.pick([0, 0, 10]),
      headers: draw.pick([0, 0, 1, 3, 30]),
      nulls: draw.pick([0, 0.1, 1]),
      noise: size.noise,
      ...times(draw),
    });
  }

  #alter(): void {
    const draw = this.#draw;
    // If segments are rolled by time, all timestamps must be of one kind.
    const settings =
      this.#kind !== 'compacted' && draw.chance(0.5)
        ? { 'message.timestamp.type': draw.pick(['LogAppendTime', 'CreateTime']) }
        : { 'compression.type': draw.pick(['producer', ...BROKER_CODECS]) };
    this.#steps.push({ step: 'alter', settings });
  }

  #endTransactions(): void {
    this.#producers.forEach(({ isOpen }, number) => {
      if (isOpen) this.#end(number);
    });
  }

  #end(producer: number): void {
    const state = this.#producers[producer];
    if (state === undefined) return;
    this.#steps.push({ step: this.#draw.chance(0.6) ? 'commit' : 'abort', producer });
    state.isOpen = false;
  }
}
