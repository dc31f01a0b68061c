import type {
  ConnectorConfig,
  JsonEncoding,
  SourceCoordinates,
  SourceRecord,
  SourceTaskContext,
} from '../../src/index.ts';
import type { Executor, Session } from '../database/index.ts';
import type { ListedTable, TableDefinition } from './catalogue.ts';
import type { RowOrigin, TransactionPlace } from './envelope.ts';
import type { JsonRows } from './json-rows.ts';
import type { LogRow, OldRow } from './pgoutput.ts';
import type { LogSettings } from './settings.ts';
import type { TableNaming } from './table-naming.ts';

/** Data that all records of one message share. */
export interface ChangePlace {
  readonly offset: SourceCoordinates;
  readonly origin: RowOrigin;
  /** Counts a row of a table in its transaction; absent without `provide.transaction.metadata`. */
  readonly count?: (table: TableNaming) => TransactionPlace;
}

/** Makes the records of a table while its definition stays the same. If a method throws, the change becomes a failed record. */
export interface TableForm {
  readonly definition: TableDefinition;
  readonly topic: string;
  /** Makes the records of a row in a snapshot. */
  read(row: LogRow, place: ChangePlace): readonly SourceRecord[];
  insert(after: LogRow, place: ChangePlace): readonly SourceRecord[];
  update(before: OldRow | undefined, after: LogRow, place: ChangePlace): readonly SourceRecord[];
  delete(before: OldRow, place: ChangePlace): readonly SourceRecord[];
  truncate(place: ChangePlace): readonly SourceRecord[];
  /** Returns a writer of inserts and updates as JSON. If absent or `undefined`, records are created one by one. */
  json?(encoding: JsonEncoding): JsonRows | undefined;
}

/** A form of the records of changes that differs from Debezium's form. */
export interface RecordForm {
  /** Called once, before the log or the tables are read. */
  prepare(executor: Executor): Promise<void>;
  /** Records that precede the rows of a snapshot. */
  beforeRows(
    session: Session,
    tables: readonly ListedTable[],
    offset: SourceCoordinates,
  ): Promise<readonly SourceRecord[]>;
  /** Called when a stream opens. The stream begins after the last record that was sent, so later records are made again. */
  streamOpened(): void;
  /**
   * @param definition has the columns of the rows, in the order of the values
   * @param identity key columns of the replica identity at the time of the changes, none if the identity is FULL; `undefined` in a
   * snapshot
   */
  table(definition: TableDefinition, identity: readonly string[] | undefined): TableForm;
  /** Makes the records of changed structures (`ddl-triggers.ts`). If absent or `undefined`, there are no such records. */
  structures?(table: Pick<ListedTable, 'oid' | 'schema' | 'name'>): TableForm | undefined;
}

/** Converts the configuration of a connector class to settings, and to a form of its records if they are not in Debezium's form. */
export interface LogDoor {
  settings(config: ConnectorConfig): LogSettings;
  form(settings: LogSettings, context: SourceTaskContext): RecordForm | undefined;
}
