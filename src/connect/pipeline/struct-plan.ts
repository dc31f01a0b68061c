import type { MessageBlock } from '../../data/message-block.ts';
import type { Header } from '../../data/record.ts';
import type { Field, Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import type { StageTimes } from './stage-times.ts';
import type { Predicate, SchemaAndValue, Transformation } from '../api.ts';

/**
 * The key or the value of planned records. `places` contains the places (see StructPlan) of a struct's fields in order,
 * or the single place of any other value.
 */
export interface PlannedPart {
  readonly schema: Schema;
  readonly places: readonly number[];
}

export function placeOf({ places }: PlannedPart, { index }: Pick<Field, 'index'>): number {
  return places[index]!;
}

/**
 * Computes the values of some places from the values of other places, for one record; see StructPlan. If it returns `false` or
 * throws, the record is transformed individually. A step must not have any other effect, because a later step of the plan may
 * fail.
 */
export type PlanStep = (cells: ConnectValue[], messages: MessageBlock, index: number) => boolean;

/**
 * Method name of a transformation that can be planned. It is a symbol, because a plugin's transformation may have members with
 * any name.
 */
export const PLAN = Symbol('plan');

export interface PlannableTransformation extends Transformation {
  /**
   * Adds to the plan the effect that `apply` has on each record of the plan.
   * @returns false if the effect depends on anything that the plan does not contain. The plan is then discarded, as after an
   *   error
   */
  [PLAN]?(plan: StructPlan): boolean;
}

/**
 * Key of a predicate's member that names the only part of a record that the predicate reads. If the plan determines
 * this part, the predicate has the same result for all records of the plan.
 */
export const READS = Symbol('reads');

export interface PlannablePredicate extends Predicate {
  readonly [READS]?: 'topic' | 'value' | 'headers';
}

/** A value other than null. */
export type Present = Exclude<ConnectValue, null>;

type HeaderChange = (headers: readonly Header[], cells: readonly ConnectValue[]) => readonly Header[];

/**
 * The transforms of structs of one schema and topic, determined before the records are read. The plan numbers its values; the
 * number of a value is its place. The first places contain the fields of the struct that is read. The other places
 * contain constants or are filled by steps. Renaming, moving or dropping a field needs no step.
 *
 * A record with null in a `required` place is transformed individually. Steps must handle null in all other places.
 */
export class StructPlan {
  /** `undefined` if the topic differs between records; `topicPlace` then contains it. */
  topic: string | undefined;
  topicPlace: number | undefined;
  /**
   * Set once a transform has replaced the key. Otherwise, records keep the key of their message, which a plan does not
   * read.
   */
  key: PlannedPart | undefined;
  value: PlannedPart;
  /** The record's headers, of which only the names are valid; `undefined` if the names are unknown. */
  #headers: readonly Header[] | undefined;
  /** Changes to the headers, which are made when the headers are read. */
  readonly headerSteps: HeaderChange[] = [];
  readonly #cells: ConnectValue[];
  readonly #steps: PlanStep[] = [];
  readonly #required = new Set<number>();
  /** For each transform, the number of steps that belong to it and to the transforms before it. */
  readonly #ends: number[] = [];
  readonly #inputs: number;

  constructor(topic: string, schema: Schema, hasHeaders: boolean) {
    this.topic = topic;
    this.value = { schema, places: schema.fields.map((_, index) => index) };
    this.#headers = hasHeaders ? undefined : [];
    this.#inputs = schema.fields.length;
    this.#cells = new Array<ConnectValue>(this.#inputs).fill(null);
  }

  /** Adds a place that always contains this value. */
  constant(value: Present): number {
    this.#required.add(this.#cells.length);
    return this.#cells.push(value) - 1;
  }

  /** Adds a place with a value that is not part of the struct, such as the record's offset. */
  inserted(valueOf: (messages: MessageBlock, index: number) => ConnectValue): number {
    return this.place((to) => (cells, messages, index) => {
      cells[to] = valueOf(messages, index);
      return true;
    });
  }

  /** Adds a place that a step fills. */
  place(stepFor: (place: number) => PlanStep): number {
    const place = this.#cells.push(null) - 1;
    this.#steps.push(stepFor(place));
    return place;
  }

  /** Adds a place with the converted value of another place. Null stays null. `change` may receive an int64 as a number. */
  changed(from: number, change: (value: Present) => ConnectValue): number {
    return this.place((to) => (cells) => {
      const value = cells[from]!;
      cells[to] = value === null ? null : change(value);
      return true;
    });
  }

  /** Names of the record's headers; `undefined` if they are unknown. */
  get headerNames(): readonly string[] | undefined {
    return this.#headers?.map(({ key }) => key);
  }

  changeHeaders(change: HeaderChange): void {
    this.#headers = this.#headers && change(this.#headers, this.#cells);
    this.headerSteps.push(change);
  }

  /** Adds a header with the value of a place, after the existing headers. */
  addHeader(key: string, schema: Schema, place: number): void {
    this.changeHeaders((headers, cells) => [...headers, { key, schema, value: asStored(schema, cells[place]!) }]);
  }

  /**
   * Returns a place with the value of `from`, or with the schema's default if that value is null (compare `cellOf` in
   * src/transforms/struct-cells.ts).
   */
  withDefault(from: number, { defaultValue }: Schema, isWanted: boolean): number {
    if (!isWanted || defaultValue === undefined || defaultValue === null || this.#required.has(from)) return from;
    const to = this.place((place) => (cells) => {
      cells[place] = cells[from] ?? (defaultValue as Present);
      return true;
    });
    this.#required.add(to);
    return to;
  }

  /**
   * Marks the place as required, unless the schema allows null (compare `checkedCell` in src/transforms/struct-cells.ts). A
   * record with null in a required place is transformed individually.
   */
  required(place: number, { optional }: Schema): number {
    if (!optional) this.#required.add(place);
    return place;
  }

  /** Adds places for the fields of the struct in a place. Records with null in that place are transformed individually. */
  opened(from: number, { fields }: Schema): number[] {
    const [first, ...more] = fields;
    if (first === undefined) return [];
    // The step of the first place fills all of them.
    const places = [
      this.place((to) => (cells) => {
        const struct = cells[from];
        if (!(struct instanceof Struct)) return false;
        for (let i = 0; i < fields.length; i++) cells[to + i] = struct.values[i] ?? null;
        return true;
      }),
    ];
    for (const _ of more) places.push(this.#cells.push(null) - 1);
    return places;
  }

  /** Adds a place with a struct that has the schema and the values of this part. */
  struct({ schema, places }: PlannedPart): number {
    const place = this.place((to) => (cells) => {
      cells[to] = structOf(schema, places, cells);
      return true;
    });
    this.#required.add(place);
    return place;
  }

  /** Returns the result of a predicate for all records of the plan, or `undefined` if it may differ between records. */
  resultOf(predicate: PlannablePredicate): boolean | undefined {
    const { topic, value } = this;
    const headers = this.#headers;
    const example = {
      ...{ topic: topic ?? '', partition: null, keySchema: null, key: null, timestamp: null, headers: headers ?? [] },
      ...{ valueSchema: value.schema, value: new Struct(value.schema) },
    };
    const isKnown = {
      topic: topic !== undefined,
      value: value.schema.type === 'struct',
      headers: headers !== undefined,
    };
    const member = predicate[READS];
    return member !== undefined && isKnown[member] ? predicate.test(example) : undefined;
  }

  /** Ends a transform. Steps that are added later belong to the next one. */
  endTransform(): void {
    this.#ends.push(this.#steps.length);
  }

  /** Returns the finished plan, or `undefined` if the resulting value is not a struct. */
  finish(): StructProgram | undefined {
    if (this.value.schema.type !== 'struct') return undefined;
    return new StructProgram(this, {
      cells: this.#cells,
      inputs: this.#inputs,
      steps: this.#steps,
      ends: this.#ends,
      required: [...this.#required],
    });
  }
}

/** Creates the struct as records contain it, with int64 values as bigint. */
function structOf(schema: Schema, places: readonly number[], cells: readonly ConnectValue[]): Struct {
  const values = places.map((place, index) => asStored(schema.fields[index]?.schema, cells[place] ?? null));
  return new Struct(schema, values);
}

/** Converts an int64 to a bigint, as records contain it. */
export function asStored(schema: Schema | undefined, value: ConnectValue): ConnectValue {
  return schema?.type === 'int64' && typeof value === 'number' ? BigInt(value) : value;
}

interface ProgramParts {
  readonly cells: ConnectValue[];
  readonly inputs: number;
  readonly steps: readonly PlanStep[];
  readonly ends: readonly number[];
  readonly required: readonly number[];
}

/** A finished plan. The result for a record is available until the next call of `run`. */
export class StructProgram {
  /** The schema of the resulting struct. */
  readonly schema: Schema;
  /** Values in the order of the fields of `schema`. An int64 may be a number. */
  readonly values: readonly ConnectValue[];
  readonly #values: ConnectValue[];
  readonly #plan: StructPlan;
  readonly #parts: ProgramParts;

  constructor(plan: StructPlan, parts: ProgramParts) {
    this.schema = plan.value.schema;
    this.#values = plan.value.places.map(() => null);
    this.values = this.#values;
    this.#plan = plan;
    this.#parts = parts;
  }

  /**
   * Transforms one record.
   * @param read values of the struct in the order of its fields
   * @param times set if the transforms are measured. A transform without steps, which only renames, moves or drops
   *   fields, is measured as almost 0
   * @returns false if the record must be transformed individually, which also reports any error of the record
   */
  run(read: readonly ConnectValue[], messages: MessageBlock, index: number, times?: StageTimes): boolean {
    const { cells, inputs, steps, required } = this.#parts;
    for (let i = 0; i < inputs; i++) cells[i] = read[i]!;
    try {
      if (times === undefined) {
        for (const step of steps) if (!step(cells, messages, index)) return false;
      } else if (!this.#runMeasured(messages, index, times)) return false;
    } catch {
      return false;
    }
    for (const place of required) if (cells[place] === null) return false;
    const { places } = this.#plan.value;
    for (let i = 0; i < places.length; i++) this.#values[i] = cells[places[i]!]!;
    return true;
  }

  #runMeasured(messages: MessageBlock, index: number, times: StageTimes): boolean {
    const { cells, steps, ends } = this.#parts;
    let at = performance.now();
    let next = 0;
    for (const [transform, end] of ends.entries()) {
      for (; next < end; next++) if (!steps[next]!(cells, messages, index)) return false;
      const now = performance.now();
      times.transformed(transform, now - at, true);
      at = now;
    }
    return true;
  }

  get topic(): string {
    const { topic, topicPlace } = this.#plan;
    return topic ?? (this.#parts.cells[topicPlace!] as string);
  }

  /** Set if a transform has replaced the key; otherwise, the record has the key of its message. */
  get key(): SchemaAndValue | undefined {
    const { key } = this.#plan;
    if (key === undefined) return undefined;
    const { schema, places } = key;
    const { cells } = this.#parts;
    const value = schema.type === 'struct' ? structOf(schema, places, cells) : asStored(schema, cells[places[0]!]!);
    return { schema, value };
  }

  struct(): Struct {
    const { schema, places } = this.#plan.value;
    return structOf(schema, places, this.#parts.cells);
  }

  /** Returns these headers after all changes of the plan. */
  headers(read: readonly Header[]): readonly Header[] {
    return this.#plan.headerSteps.reduce((headers, step) => step(headers, this.#parts.cells), read);
  }
}
