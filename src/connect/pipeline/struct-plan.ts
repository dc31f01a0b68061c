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
 * Fills places from others, for one record. False, or an error: the record is to be transformed by itself. It must not
 * change anything else, so that nothing has happened when a later step of the plan fails.
 */
export type PlanStep = (cells: ConnectValue[], messages: MessageBlock, index: number) => boolean;

/** A transformation that can be planned; a symbol, because a foreign one may have any member. */
export const PLAN = Symbol('plan');

export interface PlannableTransformation extends Transformation {
  /**
   * Adds to the plan what `apply` does to each record of its kind.
   * @returns false if that depends on more than the plan knows; what was added does not count then. An error means the same
   */
  [PLAN]?(plan: StructPlan): boolean;
}

/** A predicate whose result can be told from the kind of the records. */
export const HOLDS = Symbol('holds');

export interface PlannablePredicate extends Predicate {
  /** `undefined`: that depends on the record. */
  [HOLDS]?(plan: StructPlan): boolean | undefined;
}

type Present = Exclude<ConnectValue, null>;

/**
 * What transforms do to the structs of one schema that come from one topic, found out before there are records. Values have places in a list:
 * first those of the struct that is read, then those that steps fill. To rename, move or leave out a field takes no step.
 *
 * A null is where a record's fate is decided by its values: a place either never holds one (`required`), or each step lets it pass.
 */
export class StructPlan {
  /** `undefined`: it differs from record to record, and `topicPlace` has it. */
  topic: string | undefined;
  topicPlace: number | undefined;
  /** `undefined`: the message's own, which was not read. */
  key: PlannedPart | undefined;
  value: PlannedPart;
  /** Names of the record's headers, of which there may be two of one name; `undefined`: not known. */
  headerNames: readonly string[] | undefined;
  /** What becomes of the headers, for those who look at them. */
  readonly headerSteps: ((headers: readonly Header[], cells: readonly ConnectValue[]) => readonly Header[])[] = [];
  readonly #cells: ConnectValue[];
  readonly #steps: PlanStep[] = [];
  readonly #required = new Set<number>();
  /** For each transform, how many steps there are up to its last one. */
  readonly #ends: number[] = [];
  readonly #inputs: number;

  constructor(topic: string, schema: Schema, hasHeaders: boolean) {
    this.topic = topic;
    this.value = { schema, places: schema.fields.map((_, index) => index) };
    this.headerNames = hasHeaders ? undefined : [];
    this.#inputs = schema.fields.length;
    this.#cells = new Array<ConnectValue>(this.#inputs).fill(null);
  }

  /** A place that always holds this value. */
  constant(value: Present): number {
    this.#required.add(this.#cells.length);
    return this.#cells.push(value) - 1;
  }

  /** A place for what the record has beside its value. */
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

  /** What `change` makes of the values of a place; null stays null. An int64 comes as a bigint. */
  changed(from: number, schema: Schema, change: (value: Present) => ConnectValue): number {
    const isWide = schema.type === 'int64';
    return this.changedAsRead(from, (value) => change(isWide && typeof value === 'number' ? BigInt(value) : value));
  }

  /** The same, but an int64 may come as a number. */
  changedAsRead(from: number, change: (value: Present) => ConnectValue): number {
    return this.place((to) => (cells) => {
      const value = cells[from]!;
      cells[to] = value === null ? null : change(value);
      return true;
    });
  }

  /** A header behind those that are there, with the value of a place. */
  addHeader(key: string, schema: Schema, place: number): void {
    this.headerNames = this.headerNames && [...this.headerNames, key];
    this.headerSteps.push((headers, cells) => [...headers, { key, schema, value: asStored(schema, cells[place]!) }]);
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

  /** Records with null in this place are transformed by themselves, unless the schema allows null (`checkedCell`). */
  required(place: number, { optional }: Schema): number {
    if (!optional) this.#required.add(place);
    return place;
  }

  /** The values of a part's fields as they are stored, each checked as when it is put into a struct of these fields. */
  stored({ schema, places }: PlannedPart, withDefault: boolean): number[] {
    return schema.fields.map(({ index, schema: field }) =>
      this.required(this.withDefault(places[index]!, field, withDefault), field),
    );
  }

  /** The places of the fields of a struct in a place; records with null in it are transformed by themselves. */
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

  /** The steps that come belong to the next transform. */
  endTransform(): void {
    this.#ends.push(this.#steps.length);
  }

  /** `undefined`: what comes out is no struct. */
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

function asStored(schema: Schema | undefined, value: ConnectValue): ConnectValue {
  return schema?.type === 'int64' && typeof value === 'number' ? BigInt(value) : value;
}

interface ProgramParts {
  readonly cells: ConnectValue[];
  readonly inputs: number;
  readonly steps: readonly PlanStep[];
  readonly ends: readonly number[];
  readonly required: readonly number[];
}

/** A finished plan. What it made of a record is there until the next one. */
export class StructProgram {
  /** Of the struct that comes out. */
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
   * @returns false if it is to be transformed by itself, which says what is wrong with it, if anything
   */
  run(read: readonly ConnectValue[], messages: MessageBlock, index: number): boolean {
    const { cells, inputs, steps } = this.#parts;
    for (let i = 0; i < inputs; i++) cells[i] = read[i]!;
    try {
      for (const step of steps) if (!step(cells, messages, index)) return false;
    } catch {
      return false;
    }
    return this.#finished();
  }

  #finished(): boolean {
    const { cells, required } = this.#parts;
    for (const place of required) if (cells[place] === null) return false;
    const { places } = this.#plan.value;
    for (let i = 0; i < places.length; i++) this.#values[i] = cells[places[i]!]!;
    return true;
  }

  /** As `run`, with the time of each transform. One whose work is to name and order fields takes none. */
  runMeasured(read: readonly ConnectValue[], messages: MessageBlock, index: number, times: StageTimes): boolean {
    const { cells, inputs, steps, ends } = this.#parts;
    for (let i = 0; i < inputs; i++) cells[i] = read[i]!;
    let at = performance.now();
    try {
      let next = 0;
      for (const [transform, end] of ends.entries()) {
        for (; next < end; next++) if (steps[next]?.(cells, messages, index) === false) return false;
        const now = performance.now();
        times.transformed(transform, now - at, true);
        at = now;
      }
    } catch {
      return false;
    }
    return this.#finished();
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

  /** What becomes of these headers. */
  headers(read: readonly Header[]): readonly Header[] {
    return this.#plan.headerSteps.reduce((headers, step) => step(headers, this.#parts.cells), read);
  }
}
