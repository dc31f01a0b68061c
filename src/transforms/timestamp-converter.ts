import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, type Present } from '../connect/pipeline/struct-plan.ts';
import { oneOf } from '../config/validators.ts';
import { javaTrim } from '../java/java-text.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { ConfigError } from '../errors.ts';
import {
  changedMap,
  fieldTransformation,
  mappedStruct,
  type MappedField,
  type StructMapping,
} from './field-transformation.ts';
import { partTransformation, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireStructSchema } from './requirements.ts';
import { basicsOf, rememberedBySchema, structSchema, withDefault } from './schema-building.ts';
import {
  dateFormat,
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

const options = declareOptions({
  field: {
    type: 'STRING',
    default: '',
    importance: 'HIGH',
    documentation: 'The field with the time; empty if the whole key or value is a time.',
  },
  'target.type': {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Type to which the time is converted.',
    validator: oneOf(...TIMESTAMP_KINDS),
  },
  format: {
    type: 'STRING',
    default: '',
    importance: 'MEDIUM',
    documentation: 'Pattern of Java’s SimpleDateFormat, in UTC, for reading and writing times as text.',
  },
  'unix.precision': {
    type: 'STRING',
    default: 'milliseconds',
    importance: 'LOW',
    documentation:
      'Unit of times that are numbers. Times are converted through milliseconds, so finer digits are lost.',
    validator: oneOf(...Object.keys(UNIX_PRECISIONS)),
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Converts times between texts, numbers and Connect's logical types. */
export const timestampConverter = partTransformation('TimestampConverter', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const { field: name } = parsed;
  const replaceNull = parsed['replace.null.with.default'];
  const target = parsed['target.type'] as TimestampKind;
  const settings = settingsOf(target, parsed.format, parsed['unix.precision'] as UnixPrecision);

  const convert = (value: Present, kind: TimestampKind): Present =>
    timestampValue(timestampMs(value, kind, settings), target, settings);
  const convertWhole = (value: ConnectValue, kindOf: (value: Present) => TimestampKind): ConnectValue => {
    const converted = value === null ? null : convert(value, kindOf(value));
    return typeof converted === 'number' ? BigInt(converted) : converted;
  };

  const wholeSchema = rememberedBySchema((schema) => ({
    schema: timestampSchema(target, schema.optional),
    kind: kindOfSchema(schema),
  }));
  const changeOf = rememberedBySchema((schema) => {
    const kind = kindOfSchema(schema);
    return (value: Present) => convert(value, kind);
  });

  const mapping = rememberedBySchema((from): StructMapping => {
    requireStructSchema(from);
    const fields = from.fields.map((field): MappedField => {
      if (field.name !== name) return { from: field, withDefault: replaceNull };
      return {
        from: field,
        withDefault: replaceNull,
        // Connect checks the preceding fields before it rejects a field that cannot be a time. A getter delays the
        // rejection until the preceding fields have been checked.
        get change() {
          return changeOf(field.schema);
        },
      };
    });
    const schema = structSchema(
      from.fields.map((field) => ({
        name: field.name,
        schema: field.name === name ? timestampSchema(target, field.schema.optional) : field.schema,
      })),
      { ...basicsOf(from), optional: from.optional },
    );
    const byDefault = from.defaultValue;
    if (!(byDefault instanceof Struct)) return { schema, fields };
    return { schema: withDefault(schema, mappedStruct(byDefault, { schema, fields })), fields };
  });

  const inFields = fieldTransformation(part, {
    purpose: 'converting timestamp formats',
    inMap: (map) => changedMap(map, [[name, (value) => convertWhole(value, kindOfValue)]]),
    mapping,
  });
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (name === '') {
        if (schema === null) return part.replaced(record, null, convertWhole(value, kindOfValue));
        const whole = wholeSchema(schema);
        return part.replaced(
          record,
          whole.schema,
          convertWhole(value, () => whole.kind),
        );
      }
      if (value !== null) return inFields.apply(record);
      return part.replaced(record, schema === null ? null : mapping(schema).schema, null);
    },
    // If a pattern contains a zone, the zone that is parsed in one record also applies to later records, as in Java.
    // Such a pattern is not planned: a plan may parse records that are then transformed again individually.
    [PLAN]: (plan) => name !== '' && settings.format?.keepsZone !== true && inFields[PLAN](plan),
  };
});

function settingsOf(target: TimestampKind, pattern: string, precision: UnixPrecision): TimestampSettings {
  // In Java's message, the exception is in the place of the value, and the explanation is in the place of the option name.
  const refused = (message: string): ConfigError =>
    new ConfigError(
      `Invalid value java.lang.IllegalArgumentException: ${message} for configuration TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: ${pattern}`,
    );
  if (javaTrim(pattern) !== '') return { format: dateFormat(pattern, refused), precision };
  if (target !== 'string') return { format: undefined, precision };
  throw new ConfigError('TimestampConverter requires format option to be specified when using string timestamps');
}
