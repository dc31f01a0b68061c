import { JSON_TEXT, type Logger, type SourceCoordinates, type SourceRecord } from '../../src/index.ts';
import {
  cdcDbStatement,
  createCdcDbEncoder,
  deleteStatement,
  updateStatement,
  type CdcDbPlace,
  type ChangeKind,
  type ColumnValue,
  type Executor,
  type Precision,
  type RowCondition,
  type Session,
} from '../database/index.ts';
import type { ListedTable, TableColumn, TableDefinition } from '../log-source/catalogue.ts';
import { installDdlTriggers, readStructures } from '../log-source/ddl-triggers.ts';
import { UNCHANGED, type LogRow, type OldRow } from '../log-source/pgoutput.ts';
import type { ChangePlace, RecordForm, TableForm } from '../log-source/record-form.ts';
import type { LogSettings } from '../log-source/settings.ts';
import { schemaStatements, type TableStructure } from '../log-source/table-structure.ts';

const NO_HEADERS: SourceRecord['headers'] = [];

export interface ChangeFormOptions {
  readonly settings: LogSettings;
  /** Precision of times; `undefined`: times are written as texts. */
  readonly precision: Precision | undefined;
  readonly logger: Logger;
}

/**
 * Makes the records of `cdc_db`. An inserted row, or a row of a snapshot, becomes a message with the values of its columns. Every
 * other change becomes one or more SQL statements that the sink executes. All records go to partition 0, because they must
 * be executed in order.
 */
export class ChangeForm implements RecordForm {
  readonly #options: ChangeFormOptions;
  /** OIDs of the tables for which a record that creates them was already made since the stream was opened. */
  readonly #created = new Set<number>();

  constructor(options: ChangeFormOptions) {
    this.#options = options;
  }

  async prepare(executor: Executor): Promise<void> {
    if (this.#options.settings.hasDdl) await installDdlTriggers(executor);
  }

  async beforeRows(
    session: Session,
    tables: readonly ListedTable[],
    offset: SourceCoordinates,
  ): Promise<readonly SourceRecord[]> {
    if (!this.#options.settings.hasDdl) return [];
    const structures = await readStructures(session, tables);
    return structures.flatMap((structure) => this.#schemaChange(null, structure, offset));
  }

  streamOpened(): void {
    this.#created.clear();
  }

  table(definition: TableDefinition, identity: readonly string[] | undefined): TableForm {
    const { settings, precision } = this.#options;
    const form = new ChangedTable(definition, identity ?? [], { settings, precision });
    if (!settings.hasDdl || identity === undefined || this.#created.has(definition.oid)) return form;
    // CREATE TABLE AS logs its rows before the structure (a row of `sluice_ddl.tables`), so the table is created from what
    // the log says about its columns.
    this.#created.add(definition.oid);
    return form.createdBefore((offset) => this.#schemaChange(null, structureOf(definition, identity), offset));
  }

  structures(table: Pick<ListedTable, 'oid' | 'schema' | 'name'>): TableForm | undefined {
    if (!this.#options.settings.hasDdl) return undefined;
    const change = (before: OldRow | undefined, after: LogRow | undefined, { offset }: ChangePlace) =>
      this.#structureChange(structureIn(before?.values), structureIn(after), offset);
    return {
      definition: { ...table, columns: [], keyColumns: [] },
      topic: this.#options.settings.topicOf(table).topic,
      read: () => [],
      insert: (after, place) => change(undefined, after, place),
      update: (before, after, place) => change(before, after, place),
      delete: (before, place) => change(before, undefined, place),
      truncate: () => [],
    };
  }

  #structureChange(
    before: TableStructure | null,
    after: TableStructure | null,
    offset: SourceCoordinates,
  ): readonly SourceRecord[] {
    const { includesTable } = this.#options.settings;
    const isKnown = before !== null && includesTable(before);
    if (!isKnown && (after === null || !includesTable(after))) return [];
    return this.#schemaChange(isKnown ? before : null, after, offset);
  }

  #schemaChange(
    before: TableStructure | null,
    after: TableStructure | null,
    offset: SourceCoordinates,
  ): readonly SourceRecord[] {
    const { settings, logger } = this.#options;
    const table = after ?? before;
    if (table === null) return [];
    for (const { name } of filledColumns(before, after)) {
      logger.warn(
        `Column ${name} was added to table ${table.schema}.${table.name} with a default that is evaluated for each row; in the rows that already exist, the values in the target differ from those in the source`,
      );
    }
    const { topic } = settings.topicOf(table);
    const place = { database: settings.connection.database, schema: table.schema, table: table.name };
    return schemaStatements(before, after).map(({ kind, sql }) =>
      recordOf(topic, settings.prefix, offset, cdcDbStatement(kind, place, sql)),
    );
  }
}

/** Parses the structure, which is the second column of a row of `sluice_ddl.tables`. */
function structureIn(row: LogRow | undefined): TableStructure | null {
  const text = row?.[1];
  return typeof text === 'string' ? (JSON.parse(text) as TableStructure) : null;
}

/** New columns whose values in existing rows are unknown, because PostgreSQL evaluated the default for each row. */
function filledColumns(
  before: TableStructure | null,
  after: TableStructure | null,
): readonly { readonly name: string }[] {
  if (before === null || after === null) return [];
  const known = new Set(before.columns.map(({ number }) => number));
  return after.columns.filter(({ number, identity, generated, missing, ...column }) => {
    const isFilled = identity || (generated === '' && column.default !== null);
    return !known.has(number) && isFilled && missing === null;
  });
}

/**
 * The structure of a table, as far as the log describes it: names and types of the columns, and the key columns of the replica
 * identity.
 */
function structureOf({ schema, name, columns }: TableDefinition, identity: readonly string[]): TableStructure {
  const keyColumns = identity.map((key) => columns.findIndex((column) => column.name === key) + 1);
  return {
    schema,
    name,
    columns: columns.map((column, index) => ({
      number: index + 1,
      name: column.name,
      type: column.typeName,
      required: false,
      generated: '',
      identity: false,
      default: null,
      missing: null,
    })),
    key: keyColumns.length > 0 ? { name: `${name}_pkey`.slice(0, 63), columns: keyColumns } : null,
  };
}

function recordOf(topic: string, server: string, offset: SourceCoordinates, value: string): SourceRecord {
  return {
    topic,
    partition: 0,
    keySchema: null,
    key: null,
    valueSchema: JSON_TEXT,
    value,
    timestamp: null,
    headers: NO_HEADERS,
    sourcePartition: { server },
    sourceOffset: offset,
  };
}

interface ChangedTableParts {
  readonly settings: LogSettings;
  readonly precision: Precision | undefined;
}

/** Converts changes of a table while its definition stays the same. */
class ChangedTable implements TableForm {
  readonly definition: TableDefinition;
  readonly topic: string;
  readonly #columns: readonly (TableColumn & { readonly index: number })[];
  readonly #identity: ReadonlySet<string>;
  readonly #server: string;
  readonly #place: CdcDbPlace;
  readonly #encode: ReturnType<typeof createCdcDbEncoder>;
  /** Returns the records that must precede the first change; `undefined` once they were returned. */
  #create: ((offset: SourceCoordinates) => readonly SourceRecord[]) | undefined;

  constructor(definition: TableDefinition, identity: readonly string[], { settings, precision }: ChangedTableParts) {
    this.definition = definition;
    this.topic = settings.topicOf(definition).topic;
    this.#server = settings.prefix;
    this.#identity = new Set(identity);
    const { schema, name: table } = definition;
    this.#place = { database: settings.connection.database, schema, table };
    this.#columns = definition.columns
      .map((column, index) => ({ ...column, index }))
      .filter(({ isGenerated }) => !isGenerated);
    const columns = this.#columns.map(({ index, name, typeName: type }) => ({ index, name, type }));
    this.#encode = createCdcDbEncoder(this.#place, columns, precision);
  }

  createdBefore(create: (offset: SourceCoordinates) => readonly SourceRecord[]): this {
    this.#create = create;
    return this;
  }

  read(row: LogRow, { offset }: ChangePlace): readonly SourceRecord[] {
    return this.#records(offset, this.#encode('snapshot', row.map(knownText)));
  }

  insert(after: LogRow, { offset }: ChangePlace): readonly SourceRecord[] {
    return this.#records(offset, this.#encode('insert', after.map(knownText)));
  }

  /**
   * If the key of a row changes, the row is deleted and inserted. These changes can be repeated, because the sink replaces an existing row
   * with the same key. If the server did not send large values of the row, because they did not change, the row is updated instead,
   * unless a row with the new key exists. A remaining row with the old key is then deleted.
   */
  update(before: OldRow | undefined, after: LogRow, { offset }: ChangePlace): readonly SourceRecord[] {
    const isWhole = before?.isWhole === true;
    const row = after.map((value, index) => {
      const isOld = isWhole || this.#identity.has(this.definition.columns[index]?.name ?? '');
      return value === UNCHANGED && before !== undefined && isOld ? (before.values[index] ?? null) : value;
    });
    const key = isWhole ? this.definition.keyColumns : [...this.#identity];
    const old = before?.values ?? row;
    const where = this.#condition(old, isWhole);
    const isMoved = this.#values(old, key).some(({ value }, index) => value !== this.#values(row, key)[index]?.value);
    if (!isMoved) {
      const others = isWhole ? undefined : this.#identity;
      const values = this.#values(row).filter(({ name }) => others?.has(name) !== true);
      return values.length === 0
        ? []
        : this.#statements(offset, ['update', updateStatement(this.#table, values, where)]);
    }
    const deletion = deleteStatement(this.#table, where);
    if (!row.includes(UNCHANGED)) {
      const inserted = this.#encode('insert', row.map(knownText));
      return this.#records(offset, cdcDbStatement('delete', this.#place, deletion), inserted);
    }
    const update = updateStatement(this.#table, this.#values(row), where, this.#values(row, key));
    return this.#statements(offset, ['update', update], ['delete', deletion]);
  }

  delete(before: OldRow, { offset }: ChangePlace): readonly SourceRecord[] {
    const where = this.#condition(before.values, before.isWhole);
    return this.#statements(offset, ['delete', deleteStatement(this.#table, where)]);
  }

  truncate({ offset }: ChangePlace): readonly SourceRecord[] {
    return this.#statements(offset, ['delete', deleteStatement(this.#table)]);
  }

  get #table() {
    const { schema, name } = this.definition;
    return { schema, name };
  }

  /** The condition that finds the row: the columns of the replica identity, or all columns if the identity is FULL. */
  #condition(old: LogRow, isWhole: boolean): RowCondition {
    if (!isWhole) {
      if (this.#identity.size === 0) throw new Error('the table has no replica identity');
      return { key: this.#values(old, [...this.#identity]), others: undefined };
    }
    const key = new Set(this.definition.keyColumns);
    return {
      key: this.#values(old, [...key]),
      others: this.#values(old).filter(({ name }) => !key.has(name)),
    };
  }

  /** The values that the row contains, for the columns `names` or, by default, for all columns. */
  #values(row: LogRow, names?: readonly string[]): readonly ColumnValue[] {
    const columns =
      names === undefined
        ? this.#columns
        : names.flatMap((name) => this.#columns.find((column) => column.name === name) ?? []);
    return columns.flatMap(({ index, name, typeName: type }) => {
      const value = row[index] ?? null;
      return value === UNCHANGED ? [] : [{ name, type, value }];
    });
  }

  #statements(
    offset: SourceCoordinates,
    ...statements: readonly (readonly [kind: ChangeKind, sql: string])[]
  ): readonly SourceRecord[] {
    return this.#records(offset, ...statements.map(([kind, sql]) => cdcDbStatement(kind, this.#place, sql)));
  }

  #records(offset: SourceCoordinates, ...values: readonly string[]): readonly SourceRecord[] {
    const created = this.#create?.(offset) ?? [];
    this.#create = undefined;
    return [...created, ...values.map((value) => recordOf(this.topic, this.#server, offset, value))];
  }
}

/** The text of a value in a complete row. `UNCHANGED` does not occur in such a row. */
function knownText(value: LogRow[number]): string | null {
  return value === UNCHANGED ? null : value;
}
