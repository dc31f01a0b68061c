import {
  countCollapsed,
  DatabaseError,
  fitToTable,
  isOfOneTable,
  PRIMARY_TAG,
  refuseAll,
  tableText,
  takesPrimaryTag,
  type DecodedRows,
  type RowBatch,
  type Table,
  type TableWriter,
  type WritePolicy,
  type WriteReport,
} from '../../../src/index-database.ts';
import type { Store } from './ingest.ts';
import type { ApiRequest } from '../route.ts';

/** Name of the first column in tables that are created (docs/formats.md#tables-of-lines-and-points). */
export const TIME_COLUMN = 'k_timestamp';

type Place = Pick<ApiRequest, 'path' | 'executor' | 'timeZone' | 'signal' | 'statementTimeoutMs'>;

function policyOf({ timeZone, signal, statementTimeoutMs }: Place, { partial }: DecodedRows): WritePolicy {
  return {
    dedupRule: partial === true ? 'merge' : 'override',
    unknownColumns: 'fault',
    timeZone,
    signal,
    timeoutMs: statementTimeoutMs,
  };
}

/** Writes into tables that exist and follow the rules of the collector endpoint. */
export function existingTables(place: Place): Store {
  return async (rows) =>
    orRefused(rows.batch, async () => {
      const { catalogue } = place.executor;
      const table = await catalogue.find(rows.batch.table);
      if (table === undefined) throw refusal(`relation "${tableText(rows.batch.table)}" does not exist`, '42P01');
      const broken = brokenRule(table) && brokenRule((await catalogue.refresh(rows.batch.table)) ?? table);
      if (broken !== undefined) throw refusal(broken, '42804');
      return counted(place, await place.executor.write(fitToTable(rows.batch, table), policyOf(place, rows)));
    });
}

function brokenRule({ name, columns }: Table): string | undefined {
  const [first] = columns;
  if (first?.name !== TIME_COLUMN || first.role !== 'time') {
    return `table "${name.name}" cannot take lines here: its first column must be a timestamp named ${TIME_COLUMN}`;
  }
  if (takesPrimaryTag({ columns })) return undefined;
  return `table "${name.name}" cannot take lines here: it has no primary tag named ${PRIMARY_TAG}`;
}

/** Writes into tables that are created and extended for the rows; `writer`: the executor, or a transaction of it. */
export function growingTables(place: Place, writer: TableWriter = place.executor): Store {
  return async (rows) =>
    orRefused(rows.batch, async () => {
      const table = await writer.catalogue.find(rows.batch.table);
      if (table === undefined && (await writer.engine()) === 'relational') {
        throw refusal(`table "${tableText(rows.batch.table)}" is not created: the database is relational`, '0A000');
      }
      const batch = table === undefined ? rows.batch : fitToTable(rows.batch, table);
      const report = await writer.write(batch, { ...policyOf(place, rows), shape: rows.shape });
      // What a transaction has done counts when it is committed.
      return writer === place.executor ? counted(place, report) : report;
    });
}

function counted({ path }: Place, report: WriteReport): WriteReport {
  countCollapsed({ path }, report.collapsed);
  return report;
}

/** What concerns one table, or this user's rights on it, is a fault of each of its rows, and of no other table's. */
async function orRefused(batch: RowBatch, write: () => Promise<WriteReport>): Promise<WriteReport> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isOfOneTable(error)) throw error;
    return { stored: 0, discarded: 0, collapsed: 0, faults: refuseAll(batch, error) };
  }
}

function refusal(message: string, sqlstate: string): DatabaseError {
  return new DatabaseError(message, { scope: 'table', sqlstate });
}
