import type { JsonEncoding } from '../../src/index.ts';
import type { Executor } from '../database/index.ts';
import { describeTable, readTypeNames, readTypes, type TableColumn } from './catalogue.ts';
import type { ChangeRecords } from './change-records.ts';
import { isStructureTable } from './ddl-triggers.ts';
import type { JsonRows } from './json-rows.ts';
import type { Relation } from './pgoutput.ts';
import type { TableForm } from './record-form.ts';
import type { LogSettings } from './settings.ts';

interface Parts {
  readonly executor: Executor;
  readonly settings: LogSettings;
  readonly records: ChangeRecords;
  readonly json: JsonEncoding | undefined;
}

/** The tables that a stream has described, by OID. */
export class LoggedTables {
  readonly #parts: Parts;
  readonly #forms = new Map<number, TableForm | undefined>();
  /** Writers for those tables whose inserts and updates are written directly as JSON. */
  readonly #jsonRows = new Map<number, JsonRows>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns `undefined` for a table that is not captured. */
  form(oid: number): TableForm | undefined {
    return this.#forms.get(oid);
  }

  jsonRows(oid: number): JsonRows | undefined {
    return this.#jsonRows.get(oid);
  }

  /** Stores the form of a table. The columns are those of the log, with details from the catalogue for columns that still exist. */
  async learn({ oid, schema, name, identity: identityKind, columns }: Relation): Promise<void> {
    const { executor, settings, records, json } = this.#parts;
    const listed = { oid, schema, name };
    this.#jsonRows.delete(oid);
    if (!settings.includesTable(listed)) {
      this.#forms.set(oid, isStructureTable(listed) ? records.structures(listed) : undefined);
      return;
    }
    const known = await describeTable(executor, listed);
    const types = await readTypes(
      executor,
      columns.map(({ typeOid }) => typeOid),
    );
    const typeNames = await readTypeNames(executor, columns);
    const described = columns.map((column, index): TableColumn => {
      const match = known.columns.find((each) => each.name === column.name && each.type.oid === column.typeOid);
      const type = types(column.typeOid);
      return {
        name: column.name,
        type,
        typeName: typeNames[index] ?? type.name,
        modifier: column.typeModifier,
        isRequired: match?.isRequired ?? false,
        isGenerated: false,
        defaultSql: match?.defaultSql,
        comment: match?.comment,
      };
    });
    const keyColumns = known.keyColumns.filter((key) => columns.some((column) => column.name === key));
    const identity =
      identityKind === 'f' ? [] : columns.filter(({ isIdentity }) => isIdentity).map((each) => each.name);
    const table = records.table({ ...listed, columns: described, keyColumns }, identity);
    this.#forms.set(oid, table);
    const rows = json === undefined ? undefined : table.json?.(json);
    if (rows !== undefined) this.#jsonRows.set(oid, rows);
  }
}
