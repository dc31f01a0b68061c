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

/** The part that the records of one message share. */
export interface ChangePlace {
  readonly offset: SourceCoordinates;
  readonly origin: RowOrigin;
  /** Counts one more row of a table; absent without `provide.transaction.metadata`. */
  readonly count?: (table: TableNaming) => TransactionPlace;
}

/** Makes the records of one version of a table. An error fails the task. */
export interface TableForm {
  readonly definition: TableDefinition;
  readonly topic: string;
  /** A row of a snapshot. */
  read(row: LogRow, place: ChangePlace): readonly SourceRecord[];
  insert(after: LogRow, place: ChangePlace): readonly SourceRecord[];
  update(before: OldRow | undefined, after: LogRow, place: ChangePlace): readonly SourceRecord[];
  delete(before: OldRow, place: ChangePlace): readonly SourceRecord[];
  truncate(place: ChangePlace): readonly SourceRecord[];
  /** Writes the records of inserts and updates as JSON; absent or `undefined`: they are made one by one. */
  json?(encoding: JsonEncoding): JsonRows | undefined;
}

/** The form of the records of changes, where it is not Debezium's. */
export interface RecordForm {
  /** Called once, before the log is read. */
  prepare(executor: Executor): Promise<void>;
  /** Records that precede the rows of a snapshot. */
  beforeRows(
    session: Session,
    tables: readonly ListedTable[],
    offset: SourceCoordinates,
  ): Promise<readonly SourceRecord[]>;
  /** Called when a stream opens. It begins after the last record that was sent; records that were made after that are made again. */
  streamOpened(): void;
  /**
   * @param definition its columns are those of the rows, in their order
   * @param identity columns of the replica identity when the rows were written; `undefined` in a snapshot
   */
  table(definition: TableDefinition, identity: readonly string[] | undefined): TableForm;
  /** The records of changed structures (`ddl-triggers.ts`); absent or `undefined`: there are none. */
  structures?(table: Pick<ListedTable, 'oid' | 'schema' | 'name'>): TableForm | undefined;
}

/** Converts the configuration of a connector class to settings, and to the form of its records if it is not Debezium's. */
export interface LogDoor {
  settings(config: ConnectorConfig): LogSettings;
  form(settings: LogSettings, context: SourceTaskContext): RecordForm | undefined;
}
