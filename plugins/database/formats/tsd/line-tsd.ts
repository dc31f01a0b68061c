import type { Fault, Origin } from '../../../../src/data/fault.ts';
import { messageText, NOT_UTF8, shown } from '../message-text.ts';
import type { Decoded, Decoder } from '../format.ts';
import { messageParts } from '../message-parts.ts';
import type { Point } from './point-batch.ts';
import { PointTables, type PointPolicy } from './point-tables.ts';
import type { TagSet } from '../tag-sets.ts';
import { kindOfNumber, numberCell } from './tsd-number.ts';
import { telnetTexts } from './tsd-texts.ts';
import { pointMicros, pointNanos, timeProblem, type PointPrecision } from './tsd-time.ts';

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;

/** After this many invalid lines, the rest of a message is not read: a fault takes more memory than a short line. */
const MAX_FAULTS_PER_MESSAGE = 10_000;
const SHAPE = '<metric> <timestamp> <value> <tagk>=<tagv> …';

/**
 * Decodes line_tsd (docs/formats.md#json_tsd-and-line_tsd): lines of
 * `[put ]<metric> <timestamp> <value> [<tagk>=<tagv> …]`, with parts separated by blanks. Each line is a row, and each
 * metric a batch (point-tables.ts). Blank lines are skipped; an invalid line is a fault and does not affect other
 * lines. A leading `put` is always the command, never a metric.
 */
export class LineTsdDecoder implements Decoder {
  readonly #precision: PointPrecision;
  readonly #points: PointTables;
  /** Reused for each line. */
  readonly #point: Point;
  #text = '';
  #valid = true;
  #at = 0;
  #linesBefore = 0;
  #faults: Fault[] = [];
  #faultsLeft = 0;

  constructor(policy: PointPolicy = {}) {
    this.#precision = policy.precision ?? 'digits';
    this.#points = new PointTables(policy);
    this.#point = { metric: '', tags: this.#points.tagSets.none, micros: 0, nanos: 0, value: 0, kind: 'float' };
  }

  get rowCount(): number {
    return this.#points.rowCount;
  }

  add(message: string | Uint8Array, origin: Origin): void {
    this.#open(message);
    while (this.#nextLine(origin));
  }

  /**
   * Adds a message and yields its rows in parts of about `maxRows`, so that a large message is never completely in
   * memory as columns (message-parts.ts). The last part may be empty. Nothing else may be added meanwhile.
   */
  *addInParts(message: string | Uint8Array, origin: Origin, maxRows: number): Generator<Decoded, void, undefined> {
    this.#open(message);
    yield* messageParts({ next: () => this.#nextLine(origin), position: () => this.#at }, this, maxRows);
    yield this.take();
  }

  take(): Decoded {
    const faults = this.#faults;
    this.#faults = [];
    return { rows: this.#points.take(), faults };
  }

  #open(message: string | Uint8Array): void {
    const { text, valid } = messageText(message);
    this.#text = text;
    this.#valid = valid;
    this.#at = 0;
    this.#linesBefore = 0;
    this.#faultsLeft = MAX_FAULTS_PER_MESSAGE;
  }

  /** Returns false at the end of the message, and if it has too many invalid lines. */
  #nextLine(origin: Origin): boolean {
    const text = this.#text;
    const start = this.#at;
    if (start >= text.length) return false;
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const problem = this.#readLine(start, end);
    if (problem === undefined) this.#points.add(this.#point, origin, this.#linesBefore);
    else if (problem !== BLANK && !this.#refuse(problem, start, end, origin)) return false;
    this.#at = end + 1;
    this.#linesBefore++;
    return true;
  }

  /**
   * Parses the line at [start, lineEnd) into the point. Returns BLANK for a blank line, and a string that describes the
   * problem if the line is invalid.
   */
  #readLine(start: number, lineEnd: number): string | undefined {
    const text = this.#text;
    let end = lineEnd;
    while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
    let at = skipBlanks(text, start, end);
    if (at === end) return BLANK;
    if (text.startsWith('put', at) && isBlank(text.charCodeAt(at + 3))) at = skipBlanks(text, at + 3, end);
    const metricEnd = skipPart(text, at, end);
    const timeStart = skipBlanks(text, metricEnd, end);
    const timeEnd = skipPart(text, timeStart, end);
    const valueStart = skipBlanks(text, timeEnd, end);
    const valueEnd = skipPart(text, valueStart, end);
    if (valueStart === end) return `${telnetTexts.missingParts}: expected ${SHAPE}`;
    if (!this.#valid && text.slice(start, end).includes(NOT_UTF8)) return 'the text is not UTF-8';
    const point = this.#point;
    const micros = pointMicros(text, timeStart, timeEnd, this.#precision);
    if (micros === undefined) {
      return `the timestamp is ${shown(text.slice(timeStart, timeEnd))}: ${timeProblem(this.#precision)}`;
    }
    const value = numberCell(text, valueStart, valueEnd);
    if (value === undefined) return `${telnetTexts.value}: ${shown(text.slice(valueStart, valueEnd))}`;
    if (value === Number.POSITIVE_INFINITY) {
      return `${telnetTexts.value}: ${shown(text.slice(valueStart, valueEnd))} is out of range`;
    }
    const tags = this.#tags(skipBlanks(text, valueEnd, end), end);
    if (typeof tags === 'string') return tags;
    point.metric = text.slice(at, metricEnd);
    point.tags = tags;
    point.micros = micros;
    point.nanos = pointNanos(text, timeStart, timeEnd, this.#precision);
    point.value = value;
    point.kind = kindOfNumber(value);
    return undefined;
  }

  /** Parses the tags at [start, end). Returns a string that describes the problem if they are invalid. */
  #tags(start: number, end: number): TagSet | string {
    const { tagSets } = this.#points;
    if (start === end) return tagSets.none;
    const text = this.#text.slice(start, end);
    const known = tagSets.find(text);
    if (known !== undefined) return known;
    const names: string[] = [];
    const values: string[] = [];
    const seen = new Set<string>();
    for (let at = 0; at < text.length;) {
      const partEnd = skipPart(text, at, text.length);
      const part = text.slice(at, partEnd);
      const equals = part.indexOf('=');
      if (equals < 1 || equals === part.length - 1) return `${telnetTexts.tag}: ${shown(part)} is not <tagk>=<tagv>`;
      const name = part.slice(0, equals);
      if (seen.has(name)) return `${telnetTexts.duplicateTag}: ${shown(name)}`;
      seen.add(name);
      names.push(name);
      values.push(part.slice(equals + 1));
      at = skipBlanks(text, partEnd, text.length);
    }
    return tagSets.add(text, { names, values, hashed: values.map((value) => `'${value}'`) });
  }

  /** Returns false if there are too many invalid lines. */
  #refuse(problem: string, start: number, end: number, origin: Origin): boolean {
    const last = this.#faultsLeft-- <= 0;
    const stopped = `stopped after ${String(MAX_FAULTS_PER_MESSAGE)} invalid lines; this line and all following lines were not read`;
    const several = start > 0 || end < this.#text.length - 1;
    const isLine = origin.kind === 'line';
    const where = isLine || !several ? '' : ` (line ${String(this.#linesBefore + 1)} of the message)`;
    this.#faults.push({
      scope: 'record',
      message: `${telnetTexts.prefix}${where}: ${last ? stopped : problem}`,
      origin: isLine ? { kind: 'line', line: origin.line + this.#linesBefore } : origin,
    });
    return !last;
  }
}

const BLANK = '';

/** Returns true for the separators of the parts of a line; a newline ends the line. */
function isBlank(code: number): boolean {
  return code === SPACE || (code >= TAB && code <= RETURN && code !== NEWLINE);
}

function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function skipPart(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && !isBlank(text.charCodeAt(at))) at++;
  return at;
}
