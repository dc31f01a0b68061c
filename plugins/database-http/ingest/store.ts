import {
  countCollapsed,
  DatabaseError,
  fitToTable,
  isLimitedToTable,
  PRIMARY_TAG,
  refuseAll,
  tableText,
  type DecodedRows,
  type Executor,
  type Table,
  type TableWrite,
  type TableWriter,
  type WritePolicy,
  type WriteReport,
} from '../../database/index.ts';
import type { Store } from './ingest.ts';
import type { ApiRequest } from '../route.ts';

/** Name of the first column in created tables (docs/formats.md#tables-of-lines-and-points). */
export const TIME_COLUMN = 'k_timestamp';

type Place = Pick<ApiRequest, 'path' | 'executor' | 'timeZone' | 'signal' | 'statementTimeoutMs'>;
type Settled = PromiseSettledResult<WriteReport>;

function policyOf({ timeZone, signal, statementTimeoutMs }: Place, { partial }: DecodedRows): WritePolicy {
  return {
    dedupRule: partial === true ? 'merge' : 'override',
    unknownColumns: 'fault',
    timeZone,
    signal,
    timeoutMs: statementTimeoutMs,
  };
}

/**
 * Returns a store that writes to existing tables only. It refuses the rows of a table that does not have the required
 * columns (`brokenRule`).
 */
export function existingTables(place: Place): Store {
  const { catalogue } = place.executor;
  return storeBy(
    place.executor,
    probing(place.executor, async (all) => {
      const tables = await catalogue.findAll(all.map(({ batch }) => batch.table));
      return async (rows, at) => {
        const { batch } = rows;
        const table = tables[at];
        if (table === undefined) throw refusal(`relation "${tableText(batch.table)}" does not exist`, '42P01');
        const broken = brokenRule(table) && brokenRule((await catalogue.refresh(batch.table)) ?? table);
        if (broken !== undefined) throw refusal(broken, '42804');
        return { batch: fitToTable(batch, table), policy: policyOf(place, rows) };
      };
    }),
    place.path,
  );
}

function brokenRule({ name, columns }: Table): string | undefined {
  const [first] = columns;
  if (first?.name !== TIME_COLUMN || first.role !== 'time') {
    return `table "${name.name}" cannot take lines here: its first column must be a timestamp named ${TIME_COLUMN}`;
  }
  const type = columns.find((column) => column.name === PRIMARY_TAG)?.type;
  if (type !== undefined && /^(?:character varying|text)\b/.test(type)) return undefined;
  const fault = type === undefined ? `it has no primary tag named ${PRIMARY_TAG}` : `its ${PRIMARY_TAG} is not VARCHAR`;
  return `table "${name.name}" cannot take lines here: ${fault}`;
}

/**
 * Returns a store that creates and extends tables as the rows require. In a relational database, it creates no tables.
 */
export function growingTables(place: Place): Store {
  return storeBy(place.executor, probing(place.executor, growing(place, place.executor)), place.path);
}

/** Like `growingTables`, within a transaction. Merged rows are not counted, because the caller counts them after the commit. */
export function growingTablesWithin(place: Place, transaction: TableWriter): Store {
  const writeAll = async (writes: readonly TableWrite[]): Promise<readonly Settled[]> => {
    const settled: Settled[] = [];
    for (const { batch, policy } of writes) settled.push(await settle(transaction.write(batch, policy)));
    return settled;
  };
  return storeBy({ writeAll }, growing(place, transaction));
}

function growing(place: Place, writer: TableWriter): Preparation {
  return async (all) => {
    const tables = await writer.catalogue.findAll(all.map(({ batch }) => batch.table));
    const isRelational = tables.includes(undefined) && (await writer.engine()) === 'relational';
    return (rows, at) => {
      const table = tables[at];
      if (table === undefined && isRelational) {
        throw refusal(`table "${tableText(rows.batch.table)}" is not created: the database is relational`, '0A000');
      }
      const batch = table === undefined ? rows.batch : fitToTable(rows.batch, table);
      return { batch, policy: { ...policyOf(place, rows), shape: rows.shape } };
    };
  };
}

/**
 * Looks up the tables of some rows. Resolves with a function that returns the write for the rows of one table, or throws a
 * DatabaseError if they cannot be written.
 */
type Preparation = (
  all: readonly DecodedRows[],
) => Promise<(rows: DecodedRows, at: number) => TableWrite | Promise<TableWrite>>;

/**
 * Before the first write, the executor must find out which database server it is connected to, because the statements
 * depend on it.
 */
function probing(executor: Executor, prepare: Preparation): Preparation {
  return async (all) => {
    await executor.probe({ writes: true });
    return prepare(all);
  };
}

interface Writing {
  writeAll(writes: readonly TableWrite[]): Promise<readonly Settled[]>;
}

/**
 * Returns a store that writes batches of one table one after the other, in order. An error that concerns one table, or the user's
 * rights on it, becomes a fault of each of its rows; rows of other tables are not affected. `path` is the label under which
 * `countCollapsed` counts merged rows; without it, they are not counted.
 */
function storeBy(writing: Writing, prepare: Preparation, path?: string): Store {
  return async (all) => {
    const settled: Settled[] = [];
    for (const round of rounds(all)) {
      const outcomes = await storeRound(
        writing,
        prepare,
        round.map(({ rows }) => rows),
      );
      for (const [at, outcome] of outcomes.entries()) {
        settled[round[at]?.index ?? 0] = outcome;
        if (path !== undefined && outcome.status === 'fulfilled') countCollapsed({ path }, outcome.value.collapsed);
      }
    }
    return settled;
  };
}

interface Indexed {
  readonly rows: DecodedRows;
  readonly index: number;
}

/** Divides batches into rounds. Each round has at most one batch of a table. */
function rounds(all: readonly DecodedRows[]): Indexed[][] {
  const found: Indexed[][] = [];
  const seen = new Map<string, number>();
  for (const [index, rows] of all.entries()) {
    const table = tableText(rows.batch.table);
    const round = seen.get(table) ?? 0;
    seen.set(table, round + 1);
    (found[round] ??= []).push({ rows, index });
  }
  return found;
}

async function storeRound(
  writing: Writing,
  prepare: Preparation,
  all: readonly DecodedRows[],
): Promise<readonly Settled[]> {
  let writeOf: Awaited<ReturnType<Preparation>>;
  try {
    writeOf = await prepare(all);
  } catch (reason) {
    return all.map(() => ({ status: 'rejected', reason }));
  }
  const outcomes: Settled[] = [];
  const writes: TableWrite[] = [];
  const places: number[] = [];
  for (const [at, rows] of all.entries()) {
    try {
      writes.push(await writeOf(rows, at));
      places.push(at);
    } catch (reason) {
      outcomes[at] = { status: 'rejected', reason };
    }
  }
  for (const [index, outcome] of (await writing.writeAll(writes)).entries()) outcomes[places[index] ?? 0] = outcome;
  return outcomes.map((outcome, at) => refusedRows(outcome, all[at]));
}

function refusedRows(outcome: Settled, rows: DecodedRows | undefined): Settled {
  if (outcome.status === 'fulfilled' || rows === undefined) return outcome;
  const error: unknown = outcome.reason;
  if (!(error instanceof DatabaseError) || !isLimitedToTable(error)) return outcome;
  return {
    status: 'fulfilled',
    value: { stored: 0, discarded: 0, collapsed: 0, faults: refuseAll(rows.batch, error) },
  };
}

async function settle(writing: Promise<WriteReport>): Promise<Settled> {
  const [settled] = await Promise.allSettled([writing]);
  return settled;
}

function refusal(message: string, sqlstate: string): DatabaseError {
  return new DatabaseError(message, { scope: 'table', sqlstate });
}
