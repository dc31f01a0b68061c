import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import type { Present } from '../connect/pipeline/struct-plan.ts';
import { invalidValueText } from '../config/to-text.ts';
import { distinctList } from '../config/validators.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { javaSplit } from '../java/java-text.ts';
import type { ConnectValue } from '../data/value.ts';
import { ConfigError, DataError } from '../errors.ts';
import { fieldTransformation, type MappedField, type StructMapping } from './field-transformation.ts';
import { partTransformation, pairsValidator, replaceNullWithDefault } from './plugin-declaration.ts';
import type { ConnectMap } from './requirements.ts';
import { basicsOf, rememberedBySchema, structSchema } from './schema-building.ts';
import { fittingCell } from './struct-cells.ts';

const PURPOSE = 'field replacement';

const options = declareOptions({
  exclude: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'Fields to leave out; takes precedence over `include`.',
    validator: distinctList(),
  },
  include: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'Fields to keep; all if empty.',
    validator: distinctList(),
  },
  renames: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'New names of fields: `old:new,…`.',
    validator: pairsValidator((pairs) => renamesOf(pairs ?? [])),
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

/** Old names by new name. If several fields get the same name, the last one in the order of Java's map is used. */
function reversed(renames: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(javaHashMapOrder([...renames.keys()]).map((from) => [renames.get(from) ?? from, from]));
}

/** Drops and renames top-level fields of structs and maps. */
export const replaceField = partTransformation('ReplaceField', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  const exclude = new Set(parsed.exclude);
  const include = new Set(parsed.include);
  const renames = renamesOf(parsed.renames);
  const oldNames = reversed(renames);
  const keeps = (name: string) => !exclude.has(name) && (include.size === 0 || include.has(name));

  const mapping = rememberedBySchema((from): StructMapping => {
    const kept = from.fields.filter(({ name }) => keeps(name));
    const schema = structSchema(
      kept.map((field) => ({ name: renames.get(field.name) ?? field.name, schema: field.schema })),
      basicsOf(from),
    );
    const fields = schema.fields.map((to): MappedField => {
      const oldName = oldNames.get(to.name) ?? to.name;
      const field = from.field(oldName);
      if (field === undefined) throw new DataError(`${oldName} is not a valid field name`);
      const change = field.schema === to.schema ? undefined : (value: Present) => fittingCell(value, field, to);
      return { from: field, withDefault, change };
    });
    // If `renames` maps an excluded field and another field to the same name, the new field can have the value of the
    // excluded field but the schema of the other one. Values must therefore be checked for each record.
    return { schema, fields, isUnplanned: fields.some(({ change }) => change !== undefined) };
  });

  const inMap = (map: ConnectMap): ConnectMap => {
    const updated = new Map<ConnectValue, ConnectValue>();
    for (const [name, value] of map) {
      if (keeps(name as string)) updated.set(renames.get(name as string) ?? name, value);
    }
    return updated;
  };

  return fieldTransformation(part, { purpose: PURPOSE, keepsNull: true, inMap, mapping });
});
