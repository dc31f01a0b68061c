import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, placeOf } from '../connect/pipeline/struct-plan.ts';
import { oneOf } from '../config/validators.ts';
import { DatePatternError } from '../java/date-format/date-pattern.ts';
import { SimpleDateFormat } from '../java/date-format/simple-date-format.ts';
import { javaTrim } from '../java/java-text.ts';
import type { Schema } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { ConfigError, DataError } from '../errors.ts';
import { partTransformation, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireMap, requireStruct } from './requirements.ts';
import { basicsOf, fieldAt, rememberedBySchema, structSchema, withDefault } from './schema-building.ts';
import { cellOf, checkedCell } from './struct-cells.ts';
import {
  conversionFor,
  kindOfSchema,
  kindOfValue,
  TIMESTAMP_KINDS,
  timestampMs,
  timestampSchema,
  timestampValue,
  UNIX_PRECISIONS,
  type TimestampKind,
  type TimestampSettings,
  type UnixPrecision,
} from './timestamp-kinds.ts';

const PURPOSE = 'converting timestamp formats';

const options = declareOptions({
  field: {
    type: 'STRING',
    default: '',
    importance: 'HIGH',
    documentation: 'The field with the time; empty when the whole key or value is one.',
  },
  'target.type': {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'What the time becomes.',
    validator: oneOf(...TIMESTAMP_KINDS),
  },
  format: {
    type: 'STRING',
    default: '',
    importance: 'MEDIUM',
    documentation: 'How times are written as text, read or made: a pattern of Java’s SimpleDateFormat, in UTC.',
  },
  'unix.precision': {
    type: 'STRING',
    default: 'milliseconds',
    importance: 'LOW',
    documentation: 'Unit of times that are numbers. Times in between have milliseconds, so that finer digits are lost.',
    validator: oneOf(...Object.keys(UNIX_PRECISIONS)),
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Turns times into texts, numbers or Connect's logical types, and back. */
export const timestampConverter = partTransformation('TimestampConverter', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const { field: name } = parsed;
  const replaceNull = parsed['replace.null.with.default'];
  const target = parsed['target.type'] as TimestampKind;
  const settings = settingsOf(target, parsed.format, parsed['unix.precision'] as UnixPrecision);

  const convert = (value: ConnectValue, kind: (value: ConnectValue) => TimestampKind): ConnectValue =>
    value === null ? null : timestampValue(timestampMs(value, kind(value), settings), target, settings);

  const wholeSchema = rememberedBySchema((schema) => ({
    schema: timestampSchema(target, schema.optional),
    kind: kindOfSchema(schema),
  }));

  const inStruct = (struct: Struct, schema: Schema): Struct => {
    const values = struct.schema.fields.map((field, index) => {
      const value = cellOf(struct, field, replaceNull);
      if (field.name !== name) return checkedCell(value, fieldAt(schema, index));
      const kind = kindOfSchema(field.schema);
      return checkedCell(
        convert(value, () => kind),
        fieldAt(schema, index),
      );
    });
    return new Struct(schema, values);
  };

  const structWithTime = rememberedBySchema((schema) => {
    if (schema.type !== 'struct') throw new DataError('Cannot list fields on non-struct type');
    const converted = structSchema(
      schema.fields.map((field) => ({
        name: field.name,
        schema: field.name === name ? timestampSchema(target, field.schema.optional) : field.schema,
      })),
      { ...basicsOf(schema), optional: schema.optional },
    );
    const byDefault = schema.defaultValue;
    if (!(byDefault instanceof Struct)) return converted;
    return withDefault(converted, inStruct(byDefault, converted));
  });

  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (schema === null) {
        if (value === null || name === '') return part.replaced(record, null, convert(value, kindOfValue));
        const map = requireMap(value, PURPOSE);
        const updated = new Map<ConnectValue, ConnectValue>(map);
        updated.set(name, convert(map.get(name) ?? null, kindOfValue));
        return part.replaced(record, null, updated);
      }
      if (name === '') {
        const { schema: updated, kind } = wholeSchema(schema);
        return part.replaced(
          record,
          updated,
          convert(value, () => kind),
        );
      }
      const struct = value === null ? null : requireStruct(value, schema, PURPOSE);
      const updated = structWithTime(schema);
      return part.replaced(record, updated, struct === null ? null : inStruct(struct, updated));
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      // A zone that is read with one record counts for the next ones, and a plan reads texts of records that are refused.
      if (struct === undefined || name === '' || settings.format?.keepsZone === true) return false;
      const converted = structWithTime(struct.schema);
      const places = struct.schema.fields.map((field, index) => {
        const { schema } = field;
        const place = plan.withDefault(placeOf(struct, field), schema, replaceNull);
        const time = field.name === name ? plan.changedAsRead(place, conversionFor(schema, target, settings)) : place;
        return plan.required(time, fieldAt(converted, index).schema);
      });
      return part.replan(plan, converted, places);
    },
  };
});

function settingsOf(target: TimestampKind, pattern: string, precision: UnixPrecision): TimestampSettings {
  if (javaTrim(pattern) !== '') return { format: dateFormat(pattern), precision };
  if (target !== 'string') return { format: undefined, precision };
  throw new ConfigError('TimestampConverter requires format option to be specified when using string timestamps');
}

function dateFormat(pattern: string): SimpleDateFormat {
  try {
    return new SimpleDateFormat(pattern);
  } catch (error) {
    if (!(error instanceof DatePatternError)) throw error;
    // Java shows the exception as the value, and the text as the name of an option.
    throw new ConfigError(
      `Invalid value java.lang.IllegalArgumentException: ${error.message} for configuration TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: ${pattern}`,
    );
  }
}
