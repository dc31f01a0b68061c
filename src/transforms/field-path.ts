import { ConfigError, DataError } from '../errors.ts';
import type { Field, Schema } from '../data/schema.ts';
import type { ConnectValue, Struct } from '../data/value.ts';
import { illegalArgument, requireMap, requireStruct, type ConnectMap } from './requirements.ts';
import { cellOf } from './struct-cells.ts';

const PURPOSE = 'nested field access';

/**
 * The path to one field (org.apache.kafka.connect.transforms.field.SingleFieldPath). In V1, the text is the name of a top-level
 * field. In V2, dots separate the steps of the path. A step in backticks may contain dots; inside such a step, a backtick before
 * a dot is escaped with a backslash.
 */
export class FieldPath {
  readonly #parents: readonly string[];
  /** Absent if the path has no steps, which is the case for an empty text in V2. */
  readonly #last: string | undefined;

  constructor(text: string, version: 'V1' | 'V2') {
    const steps = version === 'V1' ? [text] : stepsOf(text);
    this.#parents = steps.slice(0, -1);
    this.#last = steps.at(-1);
  }

  get isNested(): boolean {
    return this.#parents.length > 0;
  }

  /** Name of the field at the end of the path. */
  get last(): string {
    if (this.#last === undefined) throw illegalArgument('fromIndex(0) > toIndex(-1)');
    return this.#last;
  }

  /** Returns `undefined` if a field on the path is missing. Throws a DataError if a parent on the path is not a struct. */
  fieldOf(schema: Schema): Field | undefined {
    let current: Schema | undefined = schema;
    for (const step of this.#parents) {
      current = fieldIn(current, step)?.schema;
      if (current === undefined) return undefined;
    }
    return fieldIn(current, this.last);
  }

  /** Returns null if a field on the path is missing or null. */
  inStruct(struct: Struct, withDefault: boolean): ConnectValue {
    let current = struct;
    for (const step of this.#parents) {
      const field = current.schema.field(step);
      const value = field === undefined ? null : cellOf(current, field, true);
      if (field === undefined || value === null) return null;
      current = requireStruct(value, field.schema, PURPOSE);
    }
    const field = current.schema.field(this.last);
    return field === undefined ? null : cellOf(current, field, withDefault);
  }

  /** Returns null if a field on the path is missing or null. */
  inMap(map: ConnectMap): ConnectValue {
    let current = map;
    for (const step of this.#parents) {
      const value = current.get(step) ?? null;
      if (value === null) return null;
      current = requireMap(value, PURPOSE);
    }
    return current.get(this.last) ?? null;
  }
}

function fieldIn(schema: Schema, name: string): Field | undefined {
  if (schema.type !== 'struct') throw new DataError('Cannot look up fields on non-struct type');
  return schema.field(name);
}

function stepsOf(path: string): string[] {
  const steps: string[] = [];
  let at = 0;
  while (at < path.length) {
    const step = path.charAt(at) === '`' ? quotedStep(path, at) : plainStep(path, at);
    steps.push(step.name);
    at = step.next;
  }
  if (path.endsWith('.')) steps.push('');
  return steps;
}

interface Step {
  readonly name: string;
  readonly next: number;
}

function plainStep(path: string, start: number): Step {
  const dot = path.indexOf('.', start);
  return dot < 0 ? { name: path.slice(start), next: path.length } : { name: path.slice(start, dot), next: dot + 1 };
}

/** A backtick at the end of the path or before a dot closes the step, unless a backslash precedes it. */
function quotedStep(path: string, start: number): Step {
  let name = '';
  let from = start + 1;
  for (let at = path.indexOf('`', from); at >= 0; at = path.indexOf('`', at + 1)) {
    const escaped = path.charAt(at - 1) === '\\';
    const atEnd = at === path.length - 1;
    if (atEnd && escaped) break;
    if (!atEnd && path.charAt(at + 1) !== '.') continue;
    if (!escaped) return { name: name + path.slice(from, at), next: at + 2 };
    name += `${path.slice(from, at - 1)}\``;
    from = at + 1;
  }
  throw new ConfigError(
    `Incomplete backtick pair in path: [${path}], consider adding a backslash before backtick at position ${String(start)} to escape it`,
  );
}
