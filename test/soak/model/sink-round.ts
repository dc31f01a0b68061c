import type { ProducedRecord, Producer } from '../../../src/kafka/api.ts';
import { keepingLetters, sinkConfig } from '../../support/connectors.ts';
import { Draw } from '../../support/random.ts';
import { uniqueName } from '../../support/services.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { until } from '../../support/until.ts';
import { described, Difference } from '../differential/record-lines.ts';
import { CdcSubject } from './cdc-subject.ts';
import { ConnectorControl } from './connector-control.ts';
import { JsonDbSubject } from './json-db-subject.ts';
import { LineSubject } from './line-subject.ts';
import type { ModelStage } from './model-stage.ts';
import { PointSubject } from './point-subject.ts';
import type { Engine, PlannedRecord, SinkPlace, SinkSubject, SubjectFactory } from './sink-subject.ts';
import { StructSubject } from './struct-subject.ts';
import { requireEqualRows, requireEqualTable } from './table-reader.ts';

/** Long enough for a machine that is ten times as busy as it should be. */
const SETTLE_MS = 300_000;
const LOG_LINES = 30;
/** The timestamps of records, and thus of dead letters, may have any value, so nothing must expire. */
const KEPT = { 'retention.ms': '-1' };
const POLL_MS = 60;
const FORMATS = {
  struct: (draw, place) => new StructSubject(draw, place),
  json_db: (draw, place) => new JsonDbSubject(draw, place),
  json_tsd: (draw, place) => new PointSubject(draw, place, 'json_tsd'),
  line_tsd: (draw, place) => new PointSubject(draw, place, 'line_tsd'),
  line_lp: (draw, place) => new LineSubject(draw, place),
  cdc_db: (draw, place) => new CdcSubject(draw, place),
} satisfies Readonly<Record<string, SubjectFactory>>;
type Format = keyof typeof FORMATS;
const WEIGHTED: readonly Format[] = [
  'struct',
  'struct',
  'struct',
  'json_db',
  'json_db',
  'json_tsd',
  'line_tsd',
  'line_lp',
  'line_lp',
  'cdc_db',
];

/** For one in this number of seeds, the worker is killed with records in flight. No other seed runs meanwhile. */
export const KILL_EVERY = 25;

interface Plan {
  readonly name: string;
  readonly format: Format;
  readonly engine: Engine;
  readonly partitions: number;
  readonly isTolerant: boolean;
  readonly isKilled: boolean;
  /**
   * True if tasks are stopped, restarted and moved while records are in flight, so that some records may be delivered
   * again.
   */
  readonly isDisturbed: boolean;
  readonly codec: string;
  readonly topicCodec: string;
  readonly steps: number;
  readonly badShare: number;
  readonly options: Readonly<Record<string, string>>;
}

function drawPlan(seed: number, draw: Draw): Plan {
  const format = draw.pick(WEIGHTED);
  const isKilled = seed % KILL_EVERY === 0;
  const isTolerant = draw.chance(0.75);
  const engines: Engine[] = ['unmarked', 'unmarked', 'time-series'];
  if (format === 'struct' || format === 'json_db') engines.push('relational');
  const isDisturbed = isKilled || draw.chance(0.5);
  const partitions = format === 'cdc_db' || !isTolerant ? 1 : draw.pick([1, 1, 2, 3]);
  return {
    name: uniqueName(`model-${String(seed)}`).replaceAll('-', '_'),
    format,
    engine: draw.pick(engines),
    partitions,
    isTolerant,
    isKilled,
    isDisturbed,
    codec: draw.pick(['none', 'gzip', 'snappy', 'lz4']),
    topicCodec: draw.pick(['producer', 'producer', 'uncompressed', 'gzip', 'snappy', 'lz4', 'zstd']),
    steps: draw.between(3, 5),
    badShare: draw.pick([0, 0, 0.02, 0.1, 0.3]),
    options: {
      'tasks.max': String(isDisturbed ? draw.between(1, partitions) : 1),
      delivery: draw.pick(['at-least-once', 'exactly-once']),
      ...(draw.chance(0.4) ? { 'batch.size': draw.pick(['1', '3', '50']) } : {}),
      ...(draw.chance(0.3) ? { 'batch.size.auto': 'false' } : {}),
      ...(draw.chance(0.4) ? { 'consumer.override.max.poll.records': draw.pick(['1', '7', '10000']) } : {}),
    },
  };
}

/**
 * Sends random records through a sink with the format and options of the seed. After each step, the tables and dead
 * letters must equal those of the model. Resolves with the number of records. Throws a Difference for the first
 * deviation.
 */
export async function sinkRound(seed: number, stage: ModelStage): Promise<number> {
  const draw = new Draw(seed);
  const plan = drawPlan(seed, draw);
  const round = new SinkRound(plan, draw, stage);
  try {
    return await round.run();
  } catch (error) {
    const log = stage.worker().logOf(plan.name, LOG_LINES);
    throw described(error, seed, { ...plan, events: round.events, config: round.config, log });
  } finally {
    await round.end();
  }
}

class SinkRound {
  readonly events: string[] = [];
  readonly config: Readonly<Record<string, string>>;
  readonly #plan: Plan;
  readonly #draw: Draw;
  readonly #stage: ModelStage;
  readonly #sql: SqlClient;
  readonly #subject: SinkSubject;
  readonly #connector: ConnectorControl;
  readonly #deadLetters: string;
  readonly #producer: Producer;
  /** Number of records produced so far, by partition. */
  readonly #produced: number[];
  #skipped = 0;
  readonly #letters: string[] = [];

  constructor(plan: Plan, draw: Draw, stage: ModelStage) {
    this.#plan = plan;
    this.#draw = draw;
    this.#stage = stage;
    const db = stage.database(plan.engine);
    this.#sql = new SqlClient(db);
    const { name, partitions, isTolerant, isDisturbed, engine, options } = plan;
    const isRepeated = isDisturbed && options['delivery'] === 'at-least-once';
    const place: SinkPlace = { name, database: db.database, engine, partitions, isTolerant, isRepeated };
    this.#subject = FORMATS[plan.format](draw, place);
    this.#deadLetters = `${name}_dead`;
    this.config = sinkConfig(db, {
      topics: name,
      'protocol.type': this.#subject.format,
      ...options,
      ...(isTolerant ? keepingLetters(this.#deadLetters) : {}),
      ...this.#subject.options,
    });
    this.#connector = new ConnectorControl(stage.worker().rest, name, this.config);
    this.#producer = stage.client.producer({ 'compression.type': plan.codec });
    this.#produced = Array.from({ length: partitions }, () => 0);
  }

  async run(): Promise<number> {
    const { name, partitions, topicCodec, steps } = this.#plan;
    await this.#stage.kafka.createTopic(name, partitions, { ...KEPT, 'compression.type': topicCodec });
    await this.#stage.kafka.createTopic(this.#deadLetters, 1, KEPT);
    await this.#sql.run(...this.#subject.setUp);
    await this.#connector.create();
    for (let step = 0; step < steps; step++) {
      this.#subject.beginStep(step);
      await (this.#plan.isTolerant ? this.#tolerantStep() : this.#strictStep());
      await this.#compare();
      if (this.#draw.chance(0.3)) await this.#disturb(this.#plan.isDisturbed ? this.#plan.partitions : 1);
    }
    return this.#produced.reduce((sum, count) => sum + count, 0);
  }

  async end(): Promise<void> {
    await Promise.all([this.#producer.close(1000), this.#sql.close()]);
    await this.#connector.delete();
    await this.#stage.admin.deleteTopics([this.#plan.name, this.#deadLetters]);
  }

  /** The sink processes all records, and refuses some of them. */
  async #tolerantStep(): Promise<void> {
    const records = this.#drawRecords();
    for (const { planned, partition, offset } of records) {
      if (planned.apply(true)) this.#letters.push(letterText(partition, offset, planned.value));
    }
    await this.#produce(records);
    await this.#disturbNow();
    await this.#settle();
  }

  /** Each refused record fails the task, which continues after its offset has been skipped. */
  async #strictStep(): Promise<void> {
    const records = this.#drawRecords();
    await this.#produce(records);
    await this.#disturbNow();
    for (const { planned, offset } of records) {
      if (!planned.apply(false)) continue;
      await this.#untilFailedAt(offset);
      await this.#compareTables();
      this.#skipped += 1;
      await this.#connector.skipTo(this.#plan.name, offset + 1);
      this.events.push(`skipped ${String(offset)}`);
    }
    await this.#settle();
  }

  #drawRecords(): readonly DrawnRecord[] {
    const { partitions, name, badShare } = this.#plan;
    // A strict sink fails at each refused record, and a restart takes a second.
    const most = this.#plan.isTolerant ? 1000 : 2;
    const count = this.#draw.pick([1, 4, 15, 40, 150]);
    let bad = 0;
    const offsets = [...this.#produced];
    return Array.from({ length: count }, () => {
      const partition = this.#draw.between(0, partitions - 1);
      const offset = offsets[partition] ?? 0;
      offsets[partition] = offset + 1;
      const isBad = bad < most && this.#draw.chance(badShare);
      if (isBad) bad += 1;
      return { planned: this.#subject.draw(this.#draw, { topic: name, partition, offset }, isBad), partition, offset };
    });
  }

  async #produce(records: readonly DrawnRecord[]): Promise<void> {
    const parts = this.#draw.between(1, 3);
    const size = Math.ceil(records.length / parts);
    for (let from = 0; from < records.length; from += size) {
      const part = records.slice(from, from + size);
      await this.#producer.send(part.map((record) => this.#kafkaRecord(record)));
    }
    for (const { partition } of records) this.#produced[partition] = (this.#produced[partition] ?? 0) + 1;
    this.events.push(`${String(records.length)} records`);
  }

  #kafkaRecord({ planned: { key, value, timestamp }, partition }: DrawnRecord): ProducedRecord {
    const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text));
    return { topic: this.#plan.name, partition, key: bytes(key), value: bytes(value), timestamp, headers: [] };
  }

  async #disturbNow(): Promise<void> {
    if (this.#plan.isKilled) {
      await new Promise((resolve) => setTimeout(resolve, this.#draw.between(0, 300)));
      await this.#stage.worker().kill();
      await this.#stage.worker().start();
      this.events.push('kill');
    } else if (this.#plan.isDisturbed && this.#draw.chance(0.5)) await this.#disturb(this.#plan.partitions);
  }

  async #disturb(mostTasks: number): Promise<void> {
    this.events.push(await this.#connector.disturb(this.#draw, mostTasks));
  }

  /** Waits until the offsets of all records are committed. */
  async #settle(): Promise<void> {
    await this.#untilCommitted(
      this.#produced.reduce((sum, count) => sum + count, 0),
      () => this.#connector.requireNoTrace(),
    );
  }

  async #untilFailedAt(offset: number): Promise<void> {
    let trace: string | undefined;
    await until(
      async () => (trace = await this.#connector.trace()) !== undefined,
      `record ${String(offset)} fails the task`,
      { timeoutMs: SETTLE_MS, everyMs: POLL_MS },
    );
    this.events.push(
      `failed: ${
        trace
          ?.split('\n')
          .findLast((line) => line.startsWith('Caused by'))
          ?.slice(0, 150) ?? ''
      }`,
    );
    const committed = await this.#committed();
    if (committed !== offset)
      throw new Difference(
        `the task failed with ${String(committed)} records committed, not ${String(offset)}: ${trace ?? ''}`,
      );
  }

  async #untilCommitted(count: number, check: () => Promise<void>): Promise<void> {
    let polls = 0;
    let failure: unknown;
    await until(
      async () => {
        try {
          if (++polls % 5 === 0) await check();
        } catch (error) {
          failure = error;
          return true;
        }
        const committed = await this.#committed();
        if (committed > count) throw new Difference(`${String(committed)} records are committed of ${String(count)}`);
        return committed === count;
      },
      `${String(count)} records are committed`,
      { timeoutMs: SETTLE_MS, everyMs: POLL_MS },
    );
    if (failure !== undefined) throw failure as Error;
  }

  async #committed(): Promise<number> {
    const offsets = await this.#stage.admin.groupOffsets(`connect-${this.#plan.name}`);
    return offsets.reduce((sum, { offset }) => sum + Math.max(0, offset), 0);
  }

  async #compare(): Promise<void> {
    await this.#compareTables();
    if (!this.#plan.isTolerant) return;
    const doubles = this.#plan.isDisturbed ? 'allowed' : 'refused';
    requireEqualRows('dead letters', await this.#readLetters(), this.#letters, doubles);
  }

  async #readLetters(): Promise<readonly string[]> {
    const records = await this.#stage.kafka.all(this.#deadLetters);
    return records.map(({ headers, value }) => {
      const header = (name: string): string =>
        headers.find(({ key }) => key === `__connect.errors.${name}`)?.value?.toString() ?? '';
      return letterText(Number(header('partition')), Number(header('offset')), value?.toString() ?? null);
    });
  }

  async #compareTables(): Promise<void> {
    for (const table of this.#subject.tables) await requireEqualTable(this.#sql, table);
  }
}

interface DrawnRecord {
  readonly planned: PlannedRecord;
  readonly partition: number;
  readonly offset: number;
}

function letterText(partition: number, offset: number, value: string | null): string {
  return `${String(partition)}:${String(offset)} ${value ?? 'null'}`;
}
