import { declareOptions, type Validator } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, placeOf } from '../connect/pipeline/struct-plan.ts';
import { invalidValueText } from '../config/to-text.ts';
import { distinctList } from '../config/validators.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { javaSplit } from '../java/java-text.ts';
import type { Field, Schema } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { ConfigError, DataError, toError } from '../errors.ts';
import { partTransformation, PAIRS_TEXT, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireMap, requireStruct, type ConnectMap } from './requirements.ts';
import { basicsOf, fieldAt, rememberedBySchema, structSchema } from './schema-building.ts';
import { cellOf, fittingCell } from './struct-cells.ts';

const PURPOSE = 'field replacement';

const renamePairs: Validator = {
  text: PAIRS_TEXT,
  check(_name, value) {
    try {
      renamesOf(Array.isArray(value) ? (value as string[]) : []);
      return undefined;
    } catch (error) {
      return { message: toError(error).message };
    }
  },
};

const options = declareOptions({
  exclude: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'Fields to leave out; stronger than `include`.',
    validator: distinctList(),
  },
  include: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'Fields to keep; all when empty.',
    validator: distinctList(),
  },
  renames: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'New names of fields: `old:new,…`.',
    validator: renamePairs,
  },
  'replace.null.with.default': replaceNullWithDefault,
});

function renamesOf(pairs: readonly string[]): Map<string, string> {
  const renames = new Map<string, string>();
  for (const pair of pairs) {
    const [from, to, ...more] = javaSplit(pair, ':');
    if (from === undefined || to === undefined || more.length > 0) {
      throw new ConfigError(invalidValueText('renames', pairs, `Invalid rename mapping: ${pair}`));
    }
    renames.set(from, to);
  }
  return renames;
}

/** Of several old names for one new name Java's maps keep the one that comes last in their order. */
function reversed(renames: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(javaHashMapOrder([...renames.keys()]).map((from) => [renames.get(from) ?? from, from]));
}

/** A schema that comes out, and for each of its fields the one it is filled from. */
interface Replacement {
  readonly schema: Schema;
  readonly sources: readonly Field[];
}

/** Leaves out and renames fields at the top of structs and maps. */
export const replaceField = partTransformation('ReplaceField', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  const exclude = new Set(parsed.exclude);
  const include = new Set(parsed.include);
  const renames = renamesOf(parsed.renames);
  const oldNames = reversed(renames);
  const keeps = (name: string) => !exclude.has(name) && (include.size === 0 || include.has(name));

  const replacement = rememberedBySchema((from): Replacement => {
    const kept = from.fields.filter(({ name }) => keeps(name));
    const schema = structSchema(
      kept.map((field) => ({ name: renames.get(field.name) ?? field.name, schema: field.schema })),
      basicsOf(from),
    );
    const sources = schema.fields.map(({ name }) => {
      const oldName = oldNames.get(name) ?? name;
      const field = from.field(oldName);
      if (field === undefined) throw new DataError(`${oldName} is not a valid field name`);
      return field;
    });
    return { schema, sources };
  });

  const inMap = (map: ConnectMap): ConnectMap => {
    const updated = new Map<ConnectValue, ConnectValue>();
    for (const [name, value] of map) {
      if (keeps(name as string)) updated.set(renames.get(name as string) ?? name, value);
    }
    return updated;
  };

  const inStruct = (struct: Struct): Struct => {
    const { schema, sources } = replacement(struct.schema);
    const values = sources.map((field, index) =>
      fittingCell(cellOf(struct, field, withDefault), field, fieldAt(schema, index)),
    );
    return new Struct(schema, values);
  };

  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (value === null) return record;
      if (schema === null) return part.replaced(record, null, inMap(requireMap(value, PURPOSE)));
      const updated = inStruct(requireStruct(value, schema, PURPOSE));
      return part.replaced(record, updated.schema, updated);
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      if (struct === undefined) return false;
      const { schema, sources } = replacement(struct.schema);
      // Of two renames to one name the value may be that of the field that is left out, which need not fit.
      if (sources.some((source, index) => source.schema !== fieldAt(schema, index).schema)) return false;
      const places = sources.map((field) => {
        const place = plan.withDefault(placeOf(struct, field), field.schema, withDefault);
        return plan.required(place, field.schema);
      });
      return part.replan(plan, schema, places);
    },
  };
});
