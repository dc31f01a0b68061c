import { sourceConfig } from '../../support/connectors.ts';
import { Draw } from '../../support/random.ts';
import { uniqueName } from '../../support/services.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { described, Difference } from '../differential/record-lines.ts';
import { ConnectorControl } from './connector-control.ts';
import type { ModelStage } from './model-stage.ts';
import { SourceTable, type SourceRow } from './source-table.ts';
import { unitsOfRecord, unitsOfRow, type Encoding, type SourceFormat, type Unit } from './source-units.ts';
import { TopicTail } from './topic-tail.ts';

/** Long enough for a machine that is ten times as busy as it should be. */
const SETTLE_MS = 300_000;
const LOG_LINES = 30;
const SHOWN = 600;
const BASE_US = BigInt(Date.UTC(2026, 0, 1)) * 1000n;
/** The workers of the stage: with and without exactly-once delivery. */
export const SOURCE_WORKERS = [
  { 'exactly.once.source.support': 'disabled' },
  { 'exactly.once.source.support': 'enabled' },
] as const;
/** For one in this number of seeds, the workers are killed while rows are sent. No other seed runs meanwhile. */
export const KILL_EVERY = 25;
const UNITS: Readonly<Record<SourceFormat, readonly Unit[]>> = {
  json_db: ['ms', 'ms', 'us', 'ns'],
  json_tsd: ['ms', 'ms', 's'],
  line_tsd: ['ms', 'ms', 's'],
  line_lp: ['ns', 'ns', 'us', 'ms'],
};

/**
 * The rows that the source of a seed reads:
 * - `past`: rows with past times, each statement later than the previous one.
 * - `recent`: rows with current times, including late rows, updates and overlapping transactions.
 * - `incrementing`: rows in the order of a number.
 * - `bulk`: whole tables.
 */
type Kind = 'past' | 'recent' | 'incrementing' | 'bulk';

interface Plan {
  readonly name: string;
  readonly kind: Kind;
  readonly format: SourceFormat;
  readonly unit: Unit;
  readonly rowsPerRecord: number;
  readonly keyColumns: readonly string[];
  readonly hasKey: boolean;
  readonly tables: number;
  readonly steps: number;
  readonly isOnce: boolean;
  readonly isKilled: boolean;
  readonly options: Readonly<Record<string, string>>;
}

function drawPlan(seed: number, draw: Draw): Plan {
  const kind = draw.pick<Kind>(['past', 'past', 'past', 'past', 'recent', 'recent', 'incrementing', 'bulk']);
  const format = draw.pick<SourceFormat>(['json_db', 'json_db', 'json_tsd', 'line_tsd', 'line_lp']);
  const unit = draw.pick(UNITS[format]);
  const hasKey = kind !== 'past' || draw.chance(0.75);
  const keyColumns =
    hasKey && draw.chance(0.4) ? draw.pick([{ names: ['site'] }, { names: ['site', 'rack'] }]).names : [];
  const tables = draw.between(1, 3);
  return {
    name: uniqueName(`model-${String(seed)}`).replaceAll('-', '_'),
    kind,
    format,
    unit,
    rowsPerRecord: draw.pick([1, 1, 3, 100]),
    keyColumns,
    hasKey,
    tables,
    steps: draw.between(2, 5),
    isOnce: kind !== 'bulk' && draw.chance(0.5),
    isKilled: seed % KILL_EVERY === 0,
    options: {
      'tasks.max': String(draw.between(1, tables)),
      'poll.interval.ms': kind === 'bulk' ? '300' : '100',
      ...(draw.chance(0.4) ? { 'fetch.max.rows': draw.pick(['1', '3', '20']) } : {}),
      ...(draw.chance(0.3) ? { 'fetch.max.rows.auto': 'false' } : {}),
      ...(draw.chance(0.3) ? { 'query.interval.ms': draw.pick(['0', '50', '100000']) } : {}),
      ...(draw.chance(0.2) ? { 'topic.ignore.db': 'true' } : {}),
      ...(draw.chance(0.2) ? { 'topic.delimiter': '.' } : {}),
      ...(kind === 'past' && draw.chance(0.25) ? { notify: 'true' } : {}),
      ...(kind === 'recent' ? { 'timestamp.delay.ms': '60000' } : {}),
      ...(draw.chance(0.6)
        ? { 'producer.override.compression.type': draw.pick(['gzip', 'snappy', 'lz4', 'none']) }
        : {}),
    },
  };
}

/**
 * Changes tables at random while a source with the format and options of the seed reads them. After each step, the
 * topics must contain what the model of the tables predicts. Resolves with the number of records. Throws a Difference
 * for the first deviation.
 */
export async function sourceRound(seed: number, stage: ModelStage): Promise<number> {
  const draw = new Draw(seed);
  const plan = drawPlan(seed, draw);
  const round = new SourceRound(plan, draw, stage);
  try {
    return await round.run();
  } catch (error) {
    const log = round.worker.logOf(plan.name, LOG_LINES);
    throw described(error, seed, { ...plan, events: round.events, log });
  } finally {
    await round.end();
  }
}

/** One table, its topic, and the expected contents of the topic. */
interface Watched {
  readonly table: SourceTable;
  readonly tail: TopicTail;
  /** All existing rows have earlier times. */
  us: bigint;
  /** Units that must be in the topic. */
  required: string[];
  /**
   * Units that may be in the topic: the required ones, and earlier states of rows that were updated before they were
   * read.
   */
  readonly allowed: string[];
  /** The time of each allowed unit. */
  readonly times: bigint[];
  /** Units of the rows that the table contains. */
  stored: string[];
}

class SourceRound {
  readonly events: string[] = [];
  readonly #plan: Plan;
  readonly #draw: Draw;
  readonly #stage: ModelStage;
  readonly #sql: SqlClient;
  /** Used for transactions that stay open. */
  readonly #other: SqlClient;
  readonly #encoding: Encoding;
  readonly #connector: ConnectorControl;
  readonly #watched: Watched[];
  /** Keys of the rows with current times. */
  readonly #seen = new Map<Watched, Set<string>>();

  constructor(plan: Plan, draw: Draw, stage: ModelStage) {
    this.#plan = plan;
    this.#draw = draw;
    this.#stage = stage;
    const db = stage.database('unmarked');
    this.#sql = new SqlClient(db);
    this.#other = new SqlClient(db);
    const { name, format, unit, keyColumns, rowsPerRecord, kind, options } = plan;
    this.#encoding = { format, unit, keyColumns };
    const config = sourceConfig(db, {
      'topic.prefix': name,
      'table.include': `${name}_.*`,
      'out.format': format,
      'timestamp.precision': unit,
      'out.format.rows.per.record': String(rowsPerRecord),
      ...(keyColumns.length > 0 ? { 'key.columns': keyColumns.join(',') } : {}),
      mode: kind === 'incrementing' || kind === 'bulk' ? kind : 'timestamp',
      ...(kind === 'incrementing' ? { 'incrementing.column.name': 'id' } : {}),
      ...options,
    });
    this.#connector = new ConnectorControl(this.worker.rest, name, config);
    this.#watched = Array.from({ length: plan.tables }, (_none, index) => this.#watch(`${name}_t${String(index)}`));
  }

  async run(): Promise<number> {
    for (const { table } of this.#watched) await this.#sql.run(...table.createStatements());
    const isCreatedFirst = this.#draw.chance(0.5);
    if (isCreatedFirst) await this.#connector.create();
    for (let step = 0; step < this.#plan.steps; step++) {
      for (const watched of this.#watched) await this.#change(watched, step);
      if (step === 0 && !isCreatedFirst) await this.#connector.create();
      await this.#disturbNow();
      for (const watched of this.#watched) await this.#compare(watched);
      await this.#connector.requireNoTrace();
      if (this.#draw.chance(0.25)) await this.#disturb();
    }
    return this.#watched.reduce((sum, { tail }) => sum + tail.records.length, 0);
  }

  async end(): Promise<void> {
    await this.#connector.delete();
    await Promise.all(this.#watched.map(({ tail }) => tail.close()));
    for (const { table } of this.#watched)
      await this.#sql.run(`drop table if exists ${table.name}`).catch(() => undefined);
    await Promise.all([this.#sql.close(), this.#other.close()]);
  }

  get worker() {
    return this.#stage.worker(this.#plan.isOnce ? 1 : 0);
  }

  #watch(name: string): Watched {
    const { kind, format, hasKey, options } = this.#plan;
    const table = new SourceTable(this.#draw, name, { format, hasKey, hasId: kind === 'incrementing' });
    const { database } = this.#stage.database('unmarked');
    const delimiter = options['topic.delimiter'] ?? '-';
    const parts = [this.#plan.name, ...(options['topic.ignore.db'] === 'true' ? [] : [database]), name, format];
    const tail = new TopicTail(this.#stage, parts.join(delimiter));
    return { table, tail, us: BASE_US, required: [], allowed: [], times: [], stored: [] };
  }

  async #change(watched: Watched, step: number): Promise<void> {
    const draw = this.#draw;
    if (step > 0 && draw.chance(0.3)) await this.#alter(watched);
    const statements = draw.pick([0, 1, 1, 2, 4]);
    for (let left = statements; left > 0; left--) {
      if (this.#plan.kind === 'recent') await this.#insertRecent(watched);
      else await this.#insertLater(watched);
    }
    if (this.#plan.kind === 'bulk' && draw.chance(0.3)) {
      watched.stored = [];
      await this.#sql.run(`delete from ${watched.table.name}`);
    }
  }

  async #alter(watched: Watched): Promise<void> {
    const draw = this.#draw;
    const { table } = watched;
    // If a column of a table that is read as a whole changed, all its rows would have to be encoded again.
    const kinds = this.#plan.kind === 'bulk' ? ['recreate'] : ['add', 'drop', 'recreate'];
    const kind = draw.pick(kinds);
    this.events.push(`${kind} ${table.name}`);
    if (kind === 'add') await this.#sql.run(table.addColumn(draw));
    if (kind === 'drop' && table.columns.length > 1) await this.#sql.run(table.dropColumn(draw));
    if (kind === 'recreate') {
      await this.#sql.run(`drop table ${table.name}`, ...table.createStatements());
      watched.stored = [];
    }
  }

  /** Inserts rows with past times, later than those of previous statements. Some rows have the same time. */
  async #insertLater(watched: Watched): Promise<void> {
    const draw = this.#draw;
    const { table } = watched;
    const rows: SourceRow[] = [];
    for (let left = draw.pick([1, 5, 30]); left > 0; left--) {
      watched.us +=
        BigInt(draw.pick([1000, 1_000_000, 3_600_000_000])) +
        BigInt(table.timeType === 'timestamptz(3)' ? 0 : draw.pick([0, 7]));
      for (const site of draw.chance(0.2) ? table.tagTexts.slice(0, 3) : [draw.pick(table.tagTexts)]) {
        rows.push(table.drawRow(draw, watched.us, site));
      }
    }
    const isOverlapped = this.#plan.kind === 'incrementing' && draw.chance(0.3);
    if (isOverlapped) {
      const behind = table.drawRow(draw, (watched.us += 1000n), table.tagTexts[0] ?? '');
      await this.#other.run('begin', table.insertStatement(rows));
      await this.#sql.run(table.insertStatement([behind]));
      await this.#other.run('commit');
      rows.push(behind);
    } else await this.#sql.run(table.insertStatement(rows));
    this.#expect(watched, rows);
  }

  /**
   * Inserts rows with current times. Some have earlier times, some are committed after later ones, and some are
   * updated.
   */
  async #insertRecent(watched: Watched): Promise<void> {
    const draw = this.#draw;
    const { table } = watched;
    const rows = (): SourceRow[] =>
      Array.from({ length: draw.between(1, 8) }, () => {
        const now = BigInt(Date.now()) * 1000n;
        watched.us = watched.us + 1000n > now ? watched.us + 1000n : now;
        const us = draw.chance(0.3) ? watched.us - BigInt(draw.between(1, 3000)) * 1000n : watched.us;
        return table.drawRow(draw, us, draw.pick(table.tagTexts));
      });
    const unique = (drawn: SourceRow[]): SourceRow[] => {
      const seen = this.#keys(watched);
      return drawn.filter(({ us, cells }) => {
        const key = `${String(us)} ${cells.get('site')?.text ?? ''}`;
        return !seen.has(key) && seen.add(key);
      });
    };
    const first = unique(rows());
    if (first.length === 0) return;
    const second = draw.chance(0.3) ? unique(rows()) : [];
    await this.#other.run('begin', table.insertStatement(first));
    if (second.length > 0) await this.#sql.run(table.insertStatement(second));
    await this.#other.run('commit');
    this.#expect(watched, [...first, ...second]);
    if (!draw.chance(0.3)) return;
    const before = draw.pick(first);
    const { sql, row } = table.updateRow(draw, before);
    await this.#sql.run(sql);
    const replaced = unitsOfRow(table, before, this.#encoding);
    watched.required = without(watched.required, replaced);
    this.#expect(watched, [row]);
  }

  #keys(watched: Watched): Set<string> {
    const seen = this.#seen.get(watched) ?? new Set<string>();
    this.#seen.set(watched, seen);
    return seen;
  }

  #expect(watched: Watched, rows: readonly SourceRow[]): void {
    for (const row of rows) {
      const units = unitsOfRow(watched.table, row, this.#encoding);
      watched.required.push(...units);
      watched.allowed.push(...units);
      watched.times.push(...units.map(() => row.us));
      watched.stored.push(...units);
    }
  }

  async #disturbNow(): Promise<void> {
    if (this.#plan.isKilled) {
      await new Promise((resolve) => setTimeout(resolve, this.#draw.between(0, 300)));
      await this.worker.kill();
      await this.worker.start();
      this.events.push('kill');
    } else if (this.#draw.chance(0.3)) await this.#disturb();
  }

  async #disturb(): Promise<void> {
    this.events.push(await this.#connector.disturb(this.#draw, this.#plan.tables));
  }

  async #compare(watched: Watched): Promise<void> {
    if (this.#plan.kind === 'bulk') return this.#compareBulk(watched);
    const { tail, table, required, allowed } = watched;
    const units = (): readonly string[] => tail.records.flatMap((record) => unitsOfRecord(record, this.#encoding));
    const wanted = countsOf(required);
    let missing: string[] = [];
    const isThere = (): boolean => {
      const found = countsOf(units());
      missing = [...wanted].filter(([unit, count]) => (found.get(unit) ?? 0) < count).map(([unit]) => unit);
      return missing.length === 0;
    };
    try {
      await tail.until(isThere, 'units are missing', SETTLE_MS);
    } catch (error) {
      await this.#connector.requireNoTrace();
      const surplus = this.#surplus(units(), allowed, true);
      throw new Difference(
        `topic of ${table.name}: ${String(error)}; missing: ${missing.join('; ').slice(0, SHOWN)}; not in the model: ${surplus.join('; ').slice(0, SHOWN)}`,
      );
    }
    const surplus = this.#surplus(units(), allowed, this.#mayDouble);
    if (surplus.length > 0)
      throw new Difference(`topic of ${table.name}: not in the model: ${surplus.join('; ').slice(0, SHOWN)}`);
    this.#requireRecords(watched);
    if (this.#plan.kind === 'past' && !this.#mayDouble) requireOrder(watched, units());
  }

  get #mayDouble(): boolean {
    const { isOnce, isKilled, kind } = this.#plan;
    return !isOnce && (isKilled || kind === 'recent');
  }

  #surplus(units: readonly string[], allowed: readonly string[], mayDouble: boolean): readonly string[] {
    const counts = countsOf(allowed);
    return [...countsOf(units)]
      .filter(([unit, count]) => (mayDouble ? !counts.has(unit) : count > (counts.get(unit) ?? 0)))
      .map(([unit, count]) => `${String(count)} x ${unit}`);
  }

  /** Checks that no record has more rows than the option allows. */
  #requireRecords({ tail }: Watched): void {
    const { rowsPerRecord, format } = this.#plan;
    if (format === 'json_tsd') return;
    const large = tail.records.find((record) => {
      const count = unitsOfRecord(record, this.#encoding).length;
      return count > rowsPerRecord * (format === 'line_tsd' && rowsPerRecord > 1 ? 10 : 1);
    });
    if (large !== undefined)
      throw new Difference(`a record has more rows than ${String(rowsPerRecord)}: ${String(large.value)}`);
  }

  /** The last records must be the stored rows; earlier records must be rows that were stored at some time. */
  async #compareBulk({ tail, table, stored, allowed }: Watched): Promise<void> {
    const units = (): readonly string[] => tail.records.flatMap((record) => unitsOfRecord(record, this.#encoding));
    if (stored.length > 0) {
      const wanted = JSON.stringify(stored.toSorted());
      const isThere = (): boolean => JSON.stringify(units().slice(-stored.length).toSorted()) === wanted;
      await tail
        .until(isThere, `the last ${String(stored.length)} units are those of the table`, SETTLE_MS)
        .catch((error: unknown) => {
          const last = units().slice(-stored.length).toSorted();
          throw new Difference(
            `${String(error)}: ${JSON.stringify(last).slice(0, SHOWN)}, the model has ${wanted.slice(0, SHOWN)}`,
          );
        });
    }
    const surplus = this.#surplus(units(), allowed, true);
    if (surplus.length > 0)
      throw new Difference(`topic of ${table.name}: not in the model: ${surplus.join('; ').slice(0, SHOWN)}`);
  }
}

/** Rows with the same time may be in any order. */
function requireOrder({ table, allowed, times }: Watched, units: readonly string[]): void {
  const timesOf = new Map<string, bigint[]>();
  for (const [index, unit] of allowed.entries()) timesOf.set(unit, [...(timesOf.get(unit) ?? []), times[index] ?? 0n]);
  let before = 0n;
  for (const unit of units) {
    const us = timesOf.get(unit)?.shift() ?? before;
    if (us < before) throw new Difference(`topic of ${table.name} is not in the order of time at ${unit}`);
    before = us;
  }
}

function countsOf(units: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const unit of units) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  return counts;
}

function without(units: readonly string[], removed: readonly string[]): string[] {
  const left = [...units];
  for (const unit of removed) {
    const at = left.lastIndexOf(unit);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
