import type { DataError, Logger, SourceRecord } from '../../src/index.ts';
import { roleOf, typeFamily } from '../database/index.ts';
import type { TableDefinition } from '../log-source/catalogue.ts';
import { UNCHANGED, type LogRow, type OldRow } from '../log-source/pgoutput.ts';
import type { ChangePlace, RecordForm, TableForm } from '../log-source/record-form.ts';
import type { LogSettings } from '../log-source/settings.ts';
import { RecordWriter, type RecordTarget, type WriterSettings, type WrittenTable } from './record-writer.ts';
import { tableLabel } from './tables.ts';

export interface RowFormOptions {
  readonly settings: LogSettings;
  readonly writer: WriterSettings;
  /** Whether to skip rows and columns that the format cannot represent (`errors.tolerance=all`). */
  readonly skipsUnsupported: boolean;
  readonly logger: Logger;
}

/** Makes the records of formats that only represent rows. Inserted and updated rows become records; other changes do not. */
export class RowForm implements RecordForm {
  readonly #options: RowFormOptions;

  constructor(options: RowFormOptions) {
    this.#options = options;
  }

  async prepare(): Promise<void> {
    return Promise.resolve();
  }

  async beforeRows(): Promise<readonly SourceRecord[]> {
    return Promise.resolve([]);
  }

  streamOpened(): void {
    // There is no state to reset.
  }

  table(definition: TableDefinition): TableForm {
    return new WrittenRows(definition, this.#options);
  }
}

class WrittenRows implements TableForm {
  readonly definition: TableDefinition;
  readonly topic: string;
  readonly #options: RowFormOptions;
  /** Writers by the columns that a row contains. A large value that a change did not touch is unknown, so the row lacks this column. */
  readonly #writers = new Map<string, { readonly columns: readonly number[]; readonly writer: RecordWriter }>();

  constructor(definition: TableDefinition, options: RowFormOptions) {
    this.definition = definition;
    this.topic = options.settings.topicOf(definition).topic;
    this.#options = options;
    this.#writerFor(definition.columns.map(() => null));
  }

  read(row: LogRow, place: ChangePlace): readonly SourceRecord[] {
    return this.#records(row, place);
  }

  insert(after: LogRow, place: ChangePlace): readonly SourceRecord[] {
    return this.#records(after, place);
  }

  update(before: OldRow | undefined, after: LogRow, place: ChangePlace): readonly SourceRecord[] {
    const old = before?.isWhole === true ? before.values : [];
    return this.#records(
      after.map((value, index) => (value === UNCHANGED ? (old[index] ?? UNCHANGED) : value)),
      place,
    );
  }

  delete(): readonly SourceRecord[] {
    return [];
  }

  truncate(): readonly SourceRecord[] {
    return [];
  }

  #records(row: LogRow, { offset }: ChangePlace): readonly SourceRecord[] {
    const { columns, writer } = this.#writerFor(row);
    return writer.recordsOf(
      columns.map((index) => knownText(row[index])),
      offset,
    );
  }

  #writerFor(row: LogRow) {
    const columns = [...row.keys()].filter((index) => row[index] !== UNCHANGED);
    const key = columns.join();
    let found = this.#writers.get(key);
    if (found === undefined) {
      found = { columns, writer: new RecordWriter(this.#table(columns), this.#options.writer, this.#target()) };
      this.#writers.set(key, found);
    }
    return found;
  }

  #table(columns: readonly number[]): WrittenTable {
    const { schema, name, columns: all, keyColumns } = this.definition;
    const written = all.map(({ name: column, type, typeName, isRequired, comment }, index) => ({
      name: column,
      type: typeName,
      nullable: !isRequired,
      role: roleOf(comment ?? null, typeFamily(type.oid), index === 0),
    }));
    return { name: { schema, name }, key: keyColumns, columns: written.filter((_, index) => columns.includes(index)) };
  }

  #target(): RecordTarget {
    const { settings, skipsUnsupported, logger } = this.#options;
    const { schema, name } = this.definition;
    const label = tableLabel({ name: { schema, name } });
    const onUnsupportedColumn = ({ message }: DataError): void =>
      logger.error(`Skipped a column of table ${label} (errors.tolerance=all): ${message}`);
    return {
      topic: this.topic,
      partition: { server: settings.prefix },
      onUnsupportedRow: undefined,
      ...(skipsUnsupported ? { onUnsupportedColumn } : {}),
    };
  }
}

function knownText(value: LogRow[number] | undefined): string | null {
  return value === undefined || value === UNCHANGED ? null : value;
}
