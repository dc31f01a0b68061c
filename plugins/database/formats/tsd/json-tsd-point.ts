import type { Cell, CellKind } from '../../../../src/data/row-batch.ts';
import { shown } from '../message-text.ts';
import type { JsonCursor } from '../../../../src/json/json-cursor.ts';
import { readJsonTags } from './json-tsd-tags.ts';
import { ownText } from '../../../../src/data/repeated-texts.ts';
import type { Point } from './point-batch.ts';
import type { TagSet, TagSets } from '../tag-sets.ts';
import { kindOfNumber, numberCell } from './tsd-number.ts';
import { pointTexts } from './tsd-texts.ts';
import { pointMicros, pointNanos, timeProblem, type PointPrecision } from './tsd-time.ts';

type Member = 'metric' | 'timestamp' | 'value' | 'tags' | 'other';

/** A key of a point as spelled in the last point, including the colon. */
interface PointKey {
  readonly text: string;
  readonly member: Member;
}

/** Number of keys per point whose spelling is cached by position. */
const MAX_KEYS = 16;

/** Reads one json_tsd point at the cursor's position. */
export class JsonPointReader {
  /** The last point. The object is reused for each point. */
  readonly point: Point;
  readonly #cursor: JsonCursor;
  readonly #tagSets: TagSets;
  readonly #precision: PointPrecision;
  readonly #keys: PointKey[] = [];
  #metric: string | undefined;
  #micros: number | bigint | undefined;
  #nanos = 0;
  #value: Exclude<Cell, null> | undefined;
  #kind: CellKind = 'float';
  #tags: TagSet | undefined;
  #problem: string | undefined;

  constructor(cursor: JsonCursor, tagSets: TagSets, precision: PointPrecision) {
    this.#cursor = cursor;
    this.#tagSets = tagSets;
    this.#precision = precision;
    this.point = { metric: '', tags: tagSets.none, micros: 0, nanos: 0, value: 0, kind: 'float' };
  }

  /** The metric of the last point; `undefined` if the metric was missing or invalid. */
  get metric(): string | undefined {
    return this.#metric === '' ? undefined : this.#metric;
  }

  /** Reads a point and moves past it. Returns a string if it is invalid, and false if the text is not JSON. */
  read(): true | string | false {
    this.#metric = this.#micros = this.#value = this.#tags = this.#problem = undefined;
    if (!this.#members()) return false;
    if (this.#problem !== undefined) return this.#problem;
    const { point } = this;
    if (this.#metric === undefined) return `the point has no "metric"`;
    if (this.#micros === undefined) return `${pointTexts.missing}: the point has no "timestamp"`;
    if (this.#value === undefined) return `${pointTexts.missing}: the point has no "value"`;
    point.metric = this.#metric;
    point.micros = this.#micros;
    point.nanos = this.#nanos;
    point.value = this.#value;
    point.kind = this.#kind;
    point.tags = this.#tags ?? this.#tagSets.none;
    return true;
  }

  #members(): boolean {
    const cursor = this.#cursor;
    if (cursor.peek() !== 'object') {
      return this.#wrong(`a point must be an object, not ${this.#ahead()}`);
    }
    cursor.openObject();
    if (cursor.closeObject()) return true;
    let index = 0;
    do {
      const member = this.#key(index++);
      if (member === undefined || !this.#member(member)) return false;
    } while (cursor.takeComma());
    return cursor.closeObject();
  }

  /** Reads a key and its colon; returns `undefined` if the text is not JSON. */
  #key(index: number): Member | undefined {
    const cursor = this.#cursor;
    const expected = this.#keys[index];
    if (expected !== undefined && cursor.takeText(expected.text)) {
      cursor.skipSpace();
      return expected.member;
    }
    const start = cursor.position;
    const name = cursor.string();
    if (name === undefined || !cursor.takeColon()) return undefined;
    if (name !== 'metric' && name !== 'timestamp' && name !== 'value' && name !== 'tags') return 'other';
    const text = ownText(cursor.text.slice(start, cursor.position));
    if (index < MAX_KEYS) this.#keys[index] = { text, member: name };
    return name;
  }

  /** Reads the value of a key; returns false if the text is not JSON. */
  #member(member: Member): boolean {
    switch (member) {
      case 'metric':
        return this.#metric === undefined ? this.#readMetric() : this.#twice(member);
      case 'timestamp':
        return this.#micros === undefined ? this.#readTime() : this.#twice(member);
      case 'value':
        return this.#value === undefined ? this.#readValue() : this.#twice(member);
      case 'tags':
        return this.#tags === undefined ? this.#readTags() : this.#twice(member);
      case 'other':
        return this.#cursor.value();
    }
  }

  #readMetric(): boolean {
    const cursor = this.#cursor;
    if (cursor.peek() !== 'string') {
      return this.#wrong(`"metric" must be a string, not ${this.#ahead()}`);
    }
    this.#metric = cursor.string();
    if (this.#metric === '') this.#problem ??= `"metric" is empty`;
    return this.#metric !== undefined;
  }

  #readTime(): boolean {
    const cursor = this.#cursor;
    const kind = cursor.peek();
    if (kind === 'null') return this.#wrong(`${pointTexts.missing}: "timestamp" is null`);
    if (kind !== 'number') return this.#wrong(`"timestamp" is ${this.#ahead()}: ${timeProblem(this.#precision)}`);
    const start = cursor.position;
    if (!cursor.number()) return false;
    const { text, position: end, integer } = cursor;
    this.#micros = integer ? pointMicros(text, start, end, this.#precision) : undefined;
    this.#nanos = integer ? pointNanos(text, start, end, this.#precision) : 0;
    if (this.#micros === undefined) {
      this.#problem ??= `"timestamp" is ${shown(text.slice(start, end))}: ${timeProblem(this.#precision)}`;
    }
    return true;
  }

  #readValue(): boolean {
    const cursor = this.#cursor;
    const kind = cursor.peek();
    switch (kind) {
      case 'number':
        return this.#readNumber();
      case 'string':
        this.#value = cursor.string();
        this.#kind = 'text';
        return this.#value !== undefined;
      case 'true':
      case 'false':
        this.#value = kind === 'true';
        this.#kind = 'bool';
        return cursor.word(kind);
      case 'null':
        return this.#wrong(`${pointTexts.missing}: "value" is null`);
      default:
        return this.#wrong(`"value" must be a number, a boolean or a string, not ${this.#ahead()}`);
    }
  }

  #readNumber(): boolean {
    const cursor = this.#cursor;
    const start = cursor.position;
    if (!cursor.number()) return false;
    const cell = numberCell(cursor.text, start, cursor.position);
    if (cell === undefined || cell === Number.POSITIVE_INFINITY) {
      this.#problem ??= `"value" is out of range: ${shown(cursor.text.slice(start, cursor.position))}`;
      return true;
    }
    this.#value = cell;
    this.#kind = kindOfNumber(cell);
    return true;
  }

  #readTags(): boolean {
    const cursor = this.#cursor;
    const kind = cursor.peek();
    if (kind === 'null') {
      this.#tags = this.#tagSets.none;
      return cursor.word('null');
    }
    if (kind !== 'object') return this.#wrong(`${pointTexts.tags}: "tags" must be an object, not ${this.#ahead()}`);
    const tags = readJsonTags(cursor, this.#tagSets);
    if (tags === undefined) return false;
    if (typeof tags === 'string') this.#problem ??= `${pointTexts.tags}: ${tags}`;
    else this.#tags = tags;
    return true;
  }

  #twice(key: string): boolean {
    return this.#wrong(`the key "${key}" occurs twice`);
  }

  /** Records a problem of the next value and moves past it; returns false if the text is not JSON. */
  #wrong(problem: string): boolean {
    this.#problem ??= problem;
    return this.#cursor.value();
  }

  /** Describes the kind of the next value. */
  #ahead(): string {
    const kind = this.#cursor.peek();
    if (kind === undefined) return 'nothing';
    if (kind === 'object' || kind === 'array') return `an ${kind}`;
    return kind === 'string' || kind === 'number' ? `a ${kind}` : kind;
  }
}
