import { asStored, PLAN, placeOf } from '../connect/pipeline/struct-plan.ts';
import type { PlannableTransformation, PlannedPart, Present, StructPlan } from '../connect/pipeline/struct-plan.ts';
import type { Field, Schema } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { plannedStruct, type RecordPart } from './plugin-declaration.ts';
import { requireMap, requireStruct, type ConnectMap } from './requirements.ts';
import { fieldAt } from './schema-building.ts';
import { cellOf, checkedCell } from './struct-cells.ts';

/**
 * Describes the effect of a transformation on structs of one schema: the resulting schema, and the source of each field's value.
 * `mappedStruct` applies a mapping to a single struct and throws an error if the struct is invalid. `mappedPlaces` adds the
 * mapping to a plan (src/connect/pipeline/struct-plan.ts), which transforms records of one schema without building structs. A record
 * that the plan cannot process is transformed individually with `mappedStruct`.
 */
export interface StructMapping {
  readonly schema: Schema;
  /** Sources of the values, in the order of the schema's fields. */
  readonly fields: readonly MappedField[];
  /**
   * Set if a field may get a value that does not match its schema. The mapping is then not planned, because each value
   * must be checked.
   */
  readonly isUnplanned?: boolean;
}

export interface MappedField {
  readonly from: Field;
  /** Whether a null is read as the default of `from`. */
  readonly withDefault: boolean;
  /** Converts values; null stays null. The argument and the result for an int64 may be a `number` instead of a `bigint`. */
  readonly change?: ((value: Present) => ConnectValue) | undefined;
  /** Null is accepted even if the resulting field is required. */
  readonly allowsNull?: boolean;
}

/** A mapping that copies all fields. */
export function copyOfFields({ fields }: Schema, schema: Schema, withDefault: boolean): StructMapping {
  return { schema, fields: fields.map((from) => ({ from, withDefault })) };
}

export function mappedStruct(struct: Struct, mapping: StructMapping): Struct {
  return new Struct(mapping.schema, mappedValues(struct, mapping));
}

export function mappedValues(struct: Struct, { schema, fields }: StructMapping): ConnectValue[] {
  return fields.map(({ from, withDefault, change, allowsNull }, index) => {
    const to = fieldAt(schema, index);
    const read = cellOf(struct, from, withDefault);
    const value = read === null || change === undefined ? read : asStored(to.schema, change(read));
    return allowsNull === true ? value : checkedCell(value, to);
  });
}

export function mappedPlaces(plan: StructPlan, struct: PlannedPart, { schema, fields }: StructMapping): number[] {
  return fields.map(({ from, withDefault, change, allowsNull }, index) => {
    const read = plan.withDefault(placeOf(struct, from), from.schema, withDefault);
    const place = change === undefined ? read : plan.changed(read, change);
    return allowsNull === true ? place : plan.required(place, fieldAt(schema, index).schema);
  });
}

/** Adds a mapping of the key or value to a plan. Returns `false` if the key or value is not a struct or cannot be planned. */
export function planFields(plan: StructPlan, part: RecordPart, mapping: (schema: Schema) => StructMapping): boolean {
  const struct = plannedStruct(part, plan);
  if (struct === undefined) return false;
  const rule = mapping(struct.schema);
  if (rule.isUnplanned === true) return false;
  return part.replan(plan, rule.schema, mappedPlaces(plan, struct, rule));
}

interface FieldRules {
  /** Connect's description of the transformation, for error messages. */
  readonly purpose: string;
  /** Whether a record is returned unchanged if the part that is transformed, its key or value, is null. */
  readonly keepsNull?: boolean;
  /** Transforms a map without a schema. */
  readonly inMap: (map: ConnectMap) => ConnectMap;
  /** Called for each struct, so it must cache its results by schema. */
  readonly mapping: (schema: Schema) => StructMapping;
}

/** A transformation of the fields of structs and maps. */
export function fieldTransformation(
  part: RecordPart,
  { purpose, keepsNull, inMap, mapping }: FieldRules,
): Required<Pick<PlannableTransformation, 'apply' | typeof PLAN>> {
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (value === null && keepsNull === true) return record;
      if (schema === null) return part.replaced(record, null, inMap(requireMap(value, purpose)));
      const struct = requireStruct(value, schema, purpose);
      const updated = mappedStruct(struct, mapping(struct.schema));
      return part.replaced(record, updated.schema, updated);
    },
    [PLAN]: (plan) => planFields(plan, part, mapping),
  };
}

/** A copy of the map with the values of some keys changed. A missing key is added; its `change` is called with null. */
export function changedMap(
  map: ConnectMap,
  changes: Iterable<readonly [name: string, change: (value: ConnectValue) => ConnectValue]>,
): ConnectMap {
  const updated = new Map<ConnectValue, ConnectValue>(map);
  for (const [name, change] of changes) updated.set(name, change(map.get(name) ?? null));
  return updated;
}
