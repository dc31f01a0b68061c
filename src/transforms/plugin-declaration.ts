import type { OptionDeclarations, OptionDeclaration, Validator } from '../config/option.ts';
import { CONNECT_VERSION } from '../version.ts';
import type { ConnectorConfig, TransformationPlugin } from '../connect/api.ts';
import {
  PLAN,
  type PlannableTransformation,
  type PlannedPart,
  type StructPlan,
} from '../connect/pipeline/struct-plan.ts';
import type { ConnectRecord, Header } from '../data/record.ts';
import type { Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import { oneOfIgnoringCase } from '../config/validators.ts';
import { toError } from '../errors.ts';

const PACKAGE = 'org.apache.kafka.connect.transforms';

/** Declares a transformation of whole records as the plugin `…transforms.Name`. */
export function recordTransformation(
  name: string,
  options: OptionDeclarations,
  create: (config: ConnectorConfig) => PlannableTransformation,
): readonly TransformationPlugin[] {
  return [{ type: 'transformation', className: `${PACKAGE}.${name}`, version: CONNECT_VERSION, options, create }];
}

/** Creates a transformation that changes only the headers. */
export function headerTransformation(
  change: (headers: readonly Header[]) => readonly Header[],
): PlannableTransformation {
  return {
    apply: (record) => ({ ...record, headers: change(record.headers) }),
    [PLAN](plan) {
      plan.changeHeaders(change);
      return true;
    },
  };
}

/** Declares a transformation of keys or values as two plugins, `…transforms.Name$Key` and `…transforms.Name$Value`. */
export function partTransformation(
  name: string,
  options: OptionDeclarations,
  create: (config: ConnectorConfig, part: RecordPart) => PlannableTransformation,
): readonly TransformationPlugin[] {
  return Object.entries(RECORD_PARTS).flatMap(([partName, part]) =>
    recordTransformation(`${name}$${partName}`, options, (config) => create(config, part)),
  );
}

/** Access to the part of a record that a transformation changes: the key (class name `…$Key`) or the value (`…$Value`). */
export interface RecordPart {
  schema(record: ConnectRecord): Schema | null;
  value(record: ConnectRecord): ConnectValue;
  /** A copy of the record in which this part has another schema and value. */
  replaced<R extends ConnectRecord>(record: R, schema: Schema | null, value: ConnectValue): R;
  /** The part in a plan; `undefined` if the plan does not include it. */
  planned(plan: StructPlan): PlannedPart | undefined;
  /** Replaces the part in a plan. Returns `true`, so that a transformation's `PLAN` method can return the result. */
  replan(plan: StructPlan, schema: Schema, places: readonly number[]): true;
}

const KEY: RecordPart = {
  schema: (record) => record.keySchema,
  value: (record) => record.key,
  replaced: (record, keySchema, key) => ({ ...record, keySchema, key }),
  planned: (plan) => plan.key,
  replan(plan, schema, places) {
    plan.key = { schema, places };
    return true;
  },
};

const VALUE: RecordPart = {
  schema: (record) => record.valueSchema,
  value: (record) => record.value,
  replaced: (record, valueSchema, value) => ({ ...record, valueSchema, value }),
  planned: (plan) => plan.value,
  replan(plan, schema, places) {
    plan.value = { schema, places };
    return true;
  },
};

const RECORD_PARTS = { Key: KEY, Value: VALUE } as const;

/** The part in a plan, if it is a struct. */
export function plannedStruct(part: RecordPart, plan: StructPlan): PlannedPart | undefined {
  const planned = part.planned(plan);
  return planned?.schema.type === 'struct' ? planned : undefined;
}

/** Options that several transformations have in common. */

export const replaceNullWithDefault = {
  type: 'BOOLEAN',
  default: true,
  importance: 'MEDIUM',
  documentation: 'Whether a null in a field that has a default is read as the default; with false it is read as null.',
} as const satisfies OptionDeclaration;

export const fieldSyntaxVersion = {
  type: 'STRING',
  default: 'V1',
  importance: 'HIGH',
  documentation:
    'Syntax of field names. `V1`: a name is a top-level field. `V2`: dots separate nested fields, and backticks enclose a name that contains dots.',
  validator: oneOfIgnoringCase('V1', 'V2'),
} as const satisfies OptionDeclaration;

/** A list with at least one entry (transforms.util.NonEmptyListValidator). */
export const nonEmptyList: Validator = {
  text: 'non-empty list',
  check: (_name, value) => (Array.isArray(value) && value.length > 0 ? undefined : 'Empty list'),
};

/** Validates a list of pairs (`spec` of Cast, `renames` of ReplaceField) with `parse`, which throws an error if it is invalid. */
export function pairsValidator(parse: (pairs: readonly string[] | null) => unknown): Validator {
  return {
    text: 'list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>',
    check(_name, value) {
      try {
        parse(value as readonly string[] | null);
        return undefined;
      } catch (error) {
        return { message: toError(error).message };
      }
    },
  };
}
