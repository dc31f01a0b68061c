import type { JsonCursor } from '../../../../src/json/json-cursor.ts';
import { pointTexts } from './tsd-texts.ts';

/** Walks the points of a json_tsd message: an array of them, or one alone. The caller reads each one. */
export class PointList {
  /** Why there are no more points; empty when the message ended well. */
  problem = '';
  readonly #cursor: JsonCursor;
  #inside: 'nothing' | 'array' | 'single' = 'nothing';
  #charactersBefore = 0;

  constructor(cursor: JsonCursor) {
    this.#cursor = cursor;
  }

  /** `charactersBefore`: how many the text's place in a larger one is further on. */
  open(text: string, charactersBefore = 0): void {
    this.#charactersBefore = charactersBefore;
    this.#cursor.open(text);
    this.#inside = 'nothing';
    this.problem = '';
  }

  /** Moves in front of the next point; false when there is none. */
  next(): boolean {
    const cursor = this.#cursor;
    if (this.problem !== '') return false;
    if (this.#inside === 'nothing') return this.#first();
    if (this.#inside === 'single') return this.#end();
    if (cursor.takeComma()) return true;
    return cursor.closeArray() ? this.#end() : this.notJson();
  }

  /** To be called when the point that `next` announced is not JSON. */
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
      this.problem = `${pointTexts.format}: after the points came ${this.#here()}; a message holds one array of points`;
    }
    return false;
  }

  #here(): string {
    const { position, text } = this.#cursor;
    return JSON.stringify(text.slice(position, position + 20));
  }
}
