import type { MessageBlock } from '../../data/message-block.ts';
import type { Header } from '../../data/record.ts';
import type { Field, Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import type { StageTimes } from './stage-times.ts';
import type { Predicate, SchemaAndValue, Transformation } from '../api.ts';

/** The key or the value of planned records: the places of a struct's fields in their order, or the one place of another value. */
export interface PlannedPart {
  readonly schema: Schema;
  readonly places: readonly number[];
}

export function placeOf({ places }: PlannedPart, { index }: Pick<Field, 'index'>): number {
  return places[index]!;
}

/**
 * Fills places from others, for one record. On `false` or an error the record is transformed on its own. A step must not change
 * anything else, so that nothing has happened when a later step of the plan fails.
 */
export type PlanStep = (cells: ConnectValue[], messages: MessageBlock, index: number) => boolean;

/** A transformation that can be planned; a symbol, because a foreign one may have any member. */
export const PLAN = Symbol('plan');

export interface PlannableTransformation extends Transformation {
  /**
   * Adds to the plan what `apply` does to each record of its kind.
   * @returns false if that depends on more than the plan knows; the plan is discarded then. An error means the same
   */
  [PLAN]?(plan: StructPlan): boolean;
}

/** The only member of records that a predicate reads, so that its result may be known for all records of a plan. */
export const READS = Symbol('reads');

export interface PlannablePredicate extends Predicate {
  readonly [READS]?: 'topic' | 'value' | 'headers';
}

/** A value other than null. */
export type Present = Exclude<ConnectValue, null>;

type HeaderChange = (headers: readonly Header[], cells: readonly ConnectValue[]) => readonly Header[];

/**
 * The transforms of structs of one schema and topic, determined before the records are read. Values have places in a list: first
 * those of the struct that is read, then those that steps fill. To rename, move or drop a field takes no step.
 *
 * A record with null in a place that is `required` is transformed on its own. In all other places steps accept null.
 */
export class StructPlan {
  /** `undefined`: it differs from record to record, and `topicPlace` has it. */
  topic: string | undefined;
  topicPlace: number | undefined;
  /** `undefined`: the message's own, which was not read. */
  key: PlannedPart | undefined;
  value: PlannedPart;
  /** Headers with the names of the record's headers, without their values; `undefined`: not known. */
  #headers: readonly Header[] | undefined;
  /** Changes of the headers, made when they are read. */
  readonly headerSteps: HeaderChange[] = [];
  readonly #cells: ConnectValue[];
  readonly #steps: PlanStep[] = [];
  readonly #required = new Set<number>();
  /** For each transform, the number of steps up to its last one. */
  readonly #ends: number[] = [];
  readonly #inputs: number;

  constructor(topic: string, schema: Schema, hasHeaders: boolean) {
    this.topic = topic;
    this.value = { schema, places: schema.fields.map((_, index) => index) };
    this.#headers = hasHeaders ? undefined : [];
    this.#inputs = schema.fields.length;
    this.#cells = new Array<ConnectValue>(this.#inputs).fill(null);
  }

  /** A place that always holds this value. */
  constant(value: Present): number {
    this.#required.add(this.#cells.length);
    return this.#cells.push(value) - 1;
  }

  /** A place with a value that does not come from the struct, such as the record's offset. */
  inserted(valueOf: (messages: MessageBlock, index: number) => ConnectValue): number {
    return this.place((to) => (cells, messages, index) => {
      cells[to] = valueOf(messages, index);
      return true;
    });
  }

  /** A place that a step fills. */
  place(stepFor: (place: number) => PlanStep): number {
    const place = this.#cells.push(null) - 1;
    this.#steps.push(stepFor(place));
    return place;
  }

  /** A place with the converted values of another one; null stays null. An int64 may be a number. */
  changed(from: number, change: (value: Present) => ConnectValue): number {
    return this.place((to) => (cells) => {
      const value = cells[from]!;
      cells[to] = value === null ? null : change(value);
      return true;
    });
  }

  /** Names of the record's headers; `undefined`: not known. */
  get headerNames(): readonly string[] | undefined {
    return this.#headers?.map(({ key }) => key);
  }

  changeHeaders(change: HeaderChange): void {
    this.#headers = this.#headers && change(this.#headers, this.#cells);
    this.headerSteps.push(change);
  }

  /** Adds a header with the value of a place after the existing ones. */
  addHeader(key: string, schema: Schema, place: number): void {
    this.changeHeaders((headers, cells) => [...headers, { key, schema, value: asStored(schema, cells[place]!) }]);
  }

  /** The field's default where a place holds null (`cellOf`). */
  withDefault(from: number, { defaultValue }: Schema, isWanted: boolean): number {
    if (!isWanted || defaultValue === undefined || defaultValue === null || this.#required.has(from)) return from;
    const to = this.place((place) => (cells) => {
      cells[place] = cells[from] ?? (defaultValue as Present);
      return true;
    });
    this.#required.add(to);
    return to;
  }

  /** Records with null in this place are transformed on their own, unless the schema allows null (`checkedCell`). */
  required(place: number, { optional }: Schema): number {
    if (!optional) this.#required.add(place);
    return place;
  }

  /** The places of the fields of a struct in a place; records with null in it are transformed on their own. */
  opened(from: number, { fields }: Schema): number[] {
    const [first, ...more] = fields;
    if (first === undefined) return [];
    // The first place fills them all.
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

  /** A place with a struct of this part. */
  struct({ schema, places }: PlannedPart): number {
    const place = this.place((to) => (cells) => {
      cells[to] = structOf(schema, places, cells);
      return true;
    });
    this.#required.add(place);
    return place;
  }

  /** The result of a predicate for all records of the plan; `undefined` if it may differ from record to record. */
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

  /** The following steps belong to the next transform. */
  endTransform(): void {
    this.#ends.push(this.#steps.length);
  }

  /** `undefined` if the resulting value is not a struct. */
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

/** The struct as records have it: an int64 is a bigint. */
function structOf(schema: Schema, places: readonly number[], cells: readonly ConnectValue[]): Struct {
  const values = places.map((place, index) => asStored(schema.fields[index]?.schema, cells[place] ?? null));
  return new Struct(schema, values);
}

/** An int64 as records have it. */
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

/** A finished plan. The result for a record is available until the next record is run. */
export class StructProgram {
  /** The schema of the resulting struct. */
  readonly schema: Schema;
  /** In the order of its fields; an int64 may be a number. */
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
   * @param times if the transforms are measured. A transform that only renames and reorders fields takes no time
   * @returns false if the record must be transformed on its own, which reports what is wrong with it, if anything
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

  /** `undefined`: the message's own. */
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

  /** These headers, transformed. */
  headers(read: readonly Header[]): readonly Header[] {
    return this.#plan.headerSteps.reduce((headers, step) => step(headers, this.#parts.cells), read);
  }
}
