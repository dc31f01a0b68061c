import { Schema, Struct, type ConnectValue } from '../../src/index.ts';
import type { TableColumn, TableDefinition } from './catalogue.ts';
import { maskOf, sourceTypeParameters } from './column-masks.ts';
import { columnSchema, ruleFor, type ColumnRule } from './column-types.ts';
import { defaultValue } from './default-value.ts';
import { envelopeSchema } from './envelope.ts';
import { UNCHANGED, type LogRow, type OldRow } from './pgoutput.ts';
import type { LogSettings } from './settings.ts';

export interface RecordColumn {
  /** Index of the value in the row. */
  readonly index: number;
  readonly name: string;
  readonly rule: ColumnRule;
  readonly schema: Schema;
  /** The schema without the parameters that masks and source types add. */
  readonly keySchema: Schema;
  /** The value of the field if the row has NULL in this column. */
  readonly missing: ConnectValue;
  /** Hides or shortens the value in record values. It is not applied to keys. */
  readonly mask: ((value: ConnectValue) => ConnectValue) | undefined;
}

/** Builds keys and values of records for one version of a table, with their schemas. */
export class TableRecords {
  readonly definition: TableDefinition;
  readonly topic: string;
  readonly keySchema: Schema | null;
  readonly valueSchema: Schema;
  readonly envelope: Schema;
  readonly columns: readonly RecordColumn[];
  readonly keys: readonly RecordColumn[];
  /** Added to the key, so that rows of different tables in the same topic have different keys. */
  readonly physicalTable: string | undefined;

  /** @param definition has the columns of the rows, in the order of the values */
  constructor(definition: TableDefinition, settings: LogSettings) {
    this.definition = definition;
    const { topic, keyField, physicalTable } = settings.topicOf(definition);
    this.topic = topic;
    const name = settings.adjustSchemaName(topic);
    const columns = definition.columns.flatMap((column, index) => recordColumn(column, index, definition, settings));
    const keyNames = settings.keyColumnsOf(definition) ?? definition.keyColumns;
    this.columns = columns.filter((column) => settings.includesColumn(definition, column.name));
    this.keys = keyNames.flatMap((key) => columns.find((column) => column.name === key) ?? []);
    this.physicalTable = keyField === undefined || this.keys.length === 0 ? undefined : physicalTable;
    const fieldOf = ({ name: column, schema }: RecordColumn) => ({ name: settings.adjustFieldName(column), schema });
    const keySchemaFields = this.keys.map(({ name: key, keySchema: schema }) => ({
      name: settings.adjustFieldName(key),
      schema,
    }));
    if (this.physicalTable !== undefined && keyField !== undefined) {
      keySchemaFields.push({ name: keyField, schema: new Schema('string') });
    }
    this.keySchema = this.keys.length === 0 ? null : Schema.struct(keySchemaFields, { name: `${name}.Key` });
    this.valueSchema = Schema.struct(this.columns.map(fieldOf), { name: `${name}.Value`, optional: true });
    this.envelope = envelopeSchema(name, this.valueSchema);
  }

  /** The key of a row; `null` if the table has no key columns. */
  key(row: LogRow, before?: OldRow): Struct | null {
    if (this.keySchema === null) return null;
    const old = before?.isWhole === true ? before.values : undefined;
    const values = this.keys.map((column) => cell(row, column, old));
    if (this.physicalTable !== undefined) values.push(this.physicalTable);
    return new Struct(this.keySchema, values);
  }

  /**
   * The fields of a row.
   * @param before the row before the change. If it is complete, it supplies large values that the change did not touch
   */
  value(row: LogRow, before?: OldRow): Struct {
    const old = before?.isWhole === true ? before.values : undefined;
    return new Struct(
      this.valueSchema,
      this.columns.map((column) => {
        const value = cell(row, column, old);
        return column.mask === undefined ? value : column.mask(value);
      }),
    );
  }
}

function recordColumn(
  column: TableColumn,
  index: number,
  definition: TableDefinition,
  settings: LogSettings,
): readonly RecordColumn[] {
  const rule = ruleFor(column.type, column.modifier, settings.modes);
  if (rule === undefined) return [];
  const { name, isRequired } = column;
  const optional = !isRequired;
  const byDefault = defaultValue(column, rule, columnSchema(rule, optional, undefined));
  const mask = rule.type === 'string' ? maskOf(settings.masks, definition, column) : undefined;
  const added = [...(mask?.parameters ?? []), ...sourceTypeParameters(settings.propagated, definition, column)];
  const parameters = added.length === 0 ? rule.parameters : new Map([...(rule.parameters ?? []), ...added]);
  const schema = columnSchema(parameters === undefined ? rule : { ...rule, parameters }, optional, byDefault);
  const missing = isRequired ? (byDefault ?? rule.zero(schema)) : null;
  const keySchema = columnSchema(rule, optional, byDefault);
  return [{ index, name, rule, schema, keySchema, missing, mask: mask?.apply }];
}

function cell(row: LogRow, column: RecordColumn, old: LogRow | undefined): ConnectValue {
  const { index, name, rule, schema } = column;
  let text = row[index] ?? null;
  if (text === UNCHANGED && old !== undefined) text = old[index] ?? null;
  if (text === UNCHANGED) return rule.placeholder(schema);
  if (text === null) return column.missing;
  try {
    return rule.read(text, schema);
  } catch (error) {
    throw new Error(`Column ${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
