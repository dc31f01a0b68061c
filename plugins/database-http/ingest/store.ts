import {
  DatabaseError,
  refuseAll,
  tableText,
  type DecodedRows,
  type RowBatch,
  type Table,
  type TableWriter,
  type WritePolicy,
  type WriteReport,
} from '../../../src/index.ts';
import { fitToTable, PRIMARY_TAG } from './fit.ts';
import type { Store } from './flow.ts';
import type { ApiRequest } from '../route.ts';

/** The first column's name in tables of line protocol (spec/database-http-api.md, "Collector ingest"). */
export const TIME_COLUMN = 'k_timestamp';

type Place = Pick<ApiRequest, 'executor' | 'timeZone' | 'signal' | 'statementTimeoutMs'>;

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
      return place.executor.write(fitToTable(rows.batch, table), policyOf(place, rows));
    });
}

function brokenRule({ name, columns }: Table): string | undefined {
  const [first] = columns;
  if (first?.name !== TIME_COLUMN || first.role !== 'time') {
    return `table "${name.name}" cannot take lines here: its first column must be a timestamp named ${TIME_COLUMN}`;
  }
  if (columns.some((column) => column.name === PRIMARY_TAG)) return undefined;
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
      if (rows.shape === undefined) return writer.write(batch, policyOf(place, rows));
      return writer.writeGrowing(batch, rows.shape, policyOf(place, rows));
    });
}

/** What concerns one table, or this user's rights on it, is a fault of each of its rows, and of no other table's. */
async function orRefused(batch: RowBatch, write: () => Promise<WriteReport>): Promise<WriteReport> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof DatabaseError) || !concernsTable(error)) throw error;
    return { stored: 0, discarded: 0, collapsed: 0, faults: refuseAll(batch, error) };
  }
}

/** Missing rights, unsupported statements (a view in the way) and the like are the table's, though waiting does not help. */
function concernsTable({ scope, sqlstate }: DatabaseError): boolean {
  return scope === 'table' || scope === 'record' || (scope === 'caller' && /^(?:42|0A|54)/.test(sqlstate ?? ''));
}

function refusal(message: string, sqlstate: string): DatabaseError {
  return new DatabaseError(message, { scope: 'table', sqlstate });
}
