import type { JsonCursor } from '../../../../src/json/json-cursor.ts';
import { pointTexts } from './tsd-texts.ts';

/** Iterates over the points of a json_tsd message: an array of points, or a single one. The caller reads each point. */
export class PointList {
  /** The reason why there are no more points; empty at the regular end of the message. */
  problem = '';
  readonly #cursor: JsonCursor;
  #inside: 'nothing' | 'array' | 'single' = 'nothing';
  #charactersBefore = 0;

  constructor(cursor: JsonCursor) {
    this.#cursor = cursor;
  }

  /** `charactersBefore` is the offset of the text in a larger text. */
  open(text: string, charactersBefore = 0): void {
    this.#charactersBefore = charactersBefore;
    this.#cursor.open(text);
    this.#inside = 'nothing';
    this.problem = '';
  }

  /** Moves to the next point; returns false if there is none. */
  next(): boolean {
    const cursor = this.#cursor;
    if (this.problem !== '') return false;
    if (this.#inside === 'nothing') return this.#first();
    if (this.#inside === 'single') return this.#end();
    if (cursor.takeComma()) return true;
    return cursor.closeArray() ? this.#end() : this.notJson();
  }

  /** Called if the point announced by `next` is not JSON. */
  notJson(): false {
    const { position, text } = this.#cursor;
    this.problem =
      position >= text.length
        ? `the JSON ends too early, after ${String(this.#charactersBefore + text.length)} characters`
        : `not JSON at character ${String(this.#charactersBefore + position + 1)}, ${this.#here()}`;
    return false;
  }

  #first(): boolean {
    const cursor = this.#cursor;
    if (cursor.atEnd()) {
      this.problem = 'the message is empty';
      return false;
    }
    if (cursor.peek() === 'object') {
      this.#inside = 'single';
      return true;
    }
    if (!cursor.openArray()) {
      this.problem = `${pointTexts.format}: expected an array of points, found ${this.#here()}`;
      return false;
    }
    this.#inside = 'array';
    return cursor.closeArray() ? this.#end() : true;
  }

  #end(): false {
    if (!this.#cursor.atEnd()) {
      this.problem = `${pointTexts.format}: after the points came ${this.#here()}; a message must contain one array of points`;
    }
    return false;
  }

  #here(): string {
    const { position, text } = this.#cursor;
    return JSON.stringify(text.slice(position, position + 20));
  }
}
