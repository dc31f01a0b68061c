import type { Fault, Origin } from '../../../../src/data/fault.ts';
import type { Decoded, Decoder } from '../format.ts';
import { JsonCursor } from '../../../../src/json/json-cursor.ts';
import { PointList } from './json-tsd-list.ts';
import { JsonPointReader } from './json-tsd-point.ts';
import { messageParts } from '../message-parts.ts';
import { messageText } from '../message-text.ts';
import { PointTables, type PointPolicy } from './point-tables.ts';
import { pointTexts } from './tsd-texts.ts';

/** After this many invalid points, the rest of a message is not read. */
const MAX_FAULTS_PER_MESSAGE = 10_000;
const NOT_UTF8 = 'the message is not UTF-8';

/**
 * Decodes json_tsd (docs/formats.md#json_tsd-and-line_tsd): an array of points, or a single one, each
 * `{"metric":…,"timestamp":…,"value":…,"tags":{…}}`; other keys are ignored. Each point is a row, and each metric a
 * batch (point-tables.ts). A message that is not JSON is a single fault and produces no rows; an invalid point is a
 * separate fault. If the origin is a line, the line of a point is the line of the origin plus the index of the point in
 * the message.
 */
export class JsonTsdDecoder implements Decoder {
  readonly #cursor = new JsonCursor();
  readonly #list = new PointList(this.#cursor);
  readonly #points: PointTables;
  readonly #reader: JsonPointReader;
  #faults: Fault[] = [];
  #faultsLeft = 0;
  #problem: string | undefined;

  constructor(policy: PointPolicy = {}) {
    this.#points = new PointTables(policy);
    this.#reader = new JsonPointReader(this.#cursor, this.#points.tagSets, policy.precision ?? 'digits');
  }

  get rowCount(): number {
    return this.#points.rowCount;
  }

  /** The reason why the last message was refused as a whole; `undefined` if it was not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  add(message: string | Uint8Array, origin: Origin): void {
    const faultsBefore = this.#faults.length;
    if (this.#open(message) === undefined) {
      this.#refuse(NOT_UTF8, origin);
      return;
    }
    for (let index = 0; this.#list.next(); index++) {
      if (!this.#nextPoint(origin, index)) return;
    }
    const { problem } = this.#list;
    if (problem === '') return;
    this.#points.dropMessage();
    this.#faults.length = faultsBefore;
    this.#refuse(problem, origin);
  }

  /**
   * Adds a message and yields its rows in parts of about `maxRows`, so that a large message is never completely in
   * memory as columns. A message that is not JSON must not produce any rows, so the whole message is checked first.
   * During this check, only empty parts are yielded, so that other work can run. The last part may be empty. Nothing
   * else may be added meanwhile. If the message is part of a larger text, `charactersBefore` is its offset in
   * characters.
   */
  *addInParts(
    message: string | Uint8Array,
    origin: Origin,
    maxRows: number,
    charactersBefore = 0,
  ): Generator<Decoded, void, undefined> {
    const text = this.#open(message, charactersBefore);
    const position = () => this.#cursor.position;
    if (text === undefined) {
      this.#refuse(NOT_UTF8, origin);
    } else {
      yield* messageParts({ next: () => this.#skipPoint(), position }, this, maxRows);
      if (this.#list.problem === '') {
        this.#list.open(text);
        let index = 0;
        yield* messageParts(
          { next: () => this.#list.next() && this.#nextPoint(origin, index++), position },
          this,
          maxRows,
        );
      } else this.#refuse(this.#list.problem, origin);
    }
    yield this.take();
  }

  take(): Decoded {
    const faults = this.#faults;
    this.#faults = [];
    return { rows: this.#points.take(), faults };
  }

  /** Skips a point; returns false if there is none. */
  #skipPoint(): boolean {
    if (!this.#list.next()) return false;
    if (!this.#cursor.value()) this.#list.notJson();
    return true;
  }

  /** Returns the text; `undefined` if the message is not UTF-8. */
  #open(message: string | Uint8Array, charactersBefore = 0): string | undefined {
    const { text, valid } = messageText(message);
    this.#points.beginMessage();
    this.#faultsLeft = MAX_FAULTS_PER_MESSAGE;
    this.#problem = undefined;
    this.#list.open(text, charactersBefore);
    return valid ? text : undefined;
  }

  /** Reads the next point; returns false if the message has too many invalid ones. */
  #nextPoint(origin: Origin, index: number): boolean {
    const read = this.#reader.read();
    if (read === true) {
      this.#points.add(this.#reader.point, origin, index);
      return true;
    }
    if (read === false) {
      this.#list.notJson();
      return true;
    }
    if (this.#faultsLeft-- > 0) {
      this.#refusePoint(read, origin, index);
      return true;
    }
    const stopped = `stopped after ${String(MAX_FAULTS_PER_MESSAGE)} invalid points; this one and all following points were not read`;
    this.#refusePoint(stopped, origin, index);
    return false;
  }

  #refuse(problem: string, origin: Origin): void {
    this.#problem = problem;
    this.#faults.push({ scope: 'record', message: `${pointTexts.prefix}: ${problem}`, origin });
  }

  #refusePoint(problem: string, origin: Origin, index: number): void {
    const { metric: table } = this.#reader;
    const isLine = origin.kind === 'line';
    const where = isLine ? '' : ` (point ${String(index + 1)} of the message)`;
    this.#faults.push({
      scope: 'record',
      message: `${pointTexts.prefix}${where}: ${problem}`,
      origin: isLine ? { kind: 'line', line: origin.line + index } : origin,
      table,
    });
  }
}
