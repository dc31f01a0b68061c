import type { JsonScanner } from '../../json/json-cursor.ts';
import { pointTexts } from './tsd-texts.ts';

/** Walks the points of a json_tsd message: an array of them, or one alone. The caller reads each one. */
export class PointList {
  /** Why there are no more points; empty when the message ended well. */
  problem = '';
  readonly #scanner: JsonScanner;
  #inside: 'nothing' | 'array' | 'single' = 'nothing';
  #charactersBefore = 0;

  constructor(scanner: JsonScanner) {
    this.#scanner = scanner;
  }

  /** `charactersBefore`: how many the text's place in a larger one is further on. */
  open(text: string, charactersBefore = 0): void {
    this.#charactersBefore = charactersBefore;
    this.#scanner.open(text);
    this.#inside = 'nothing';
    this.problem = '';
  }

  /** Moves in front of the next point; false when there is none. */
  next(): boolean {
    const scanner = this.#scanner;
    if (this.problem !== '') return false;
    if (this.#inside === 'nothing') return this.#first();
    if (this.#inside === 'single') return this.#end();
    if (scanner.takeComma()) return true;
    return scanner.closeArray() ? this.#end() : this.notJson();
  }

  /** To be called when the point that `next` announced is not JSON. */
  notJson(): false {
    const { position, text } = this.#scanner;
    this.problem =
      position >= text.length
        ? `the JSON ends too early, after ${String(this.#charactersBefore + text.length)} characters`
        : `not JSON at character ${String(this.#charactersBefore + position + 1)}, ${this.#here()}`;
    return false;
  }

  #first(): boolean {
    const scanner = this.#scanner;
    if (scanner.atEnd()) {
      this.problem = 'the message is empty';
      return false;
    }
    if (scanner.peek() === 'object') {
      this.#inside = 'single';
      return true;
    }
    if (!scanner.openArray()) {
      this.problem = `${pointTexts.format}: expected an array of points, found ${this.#here()}`;
      return false;
    }
    this.#inside = 'array';
    return scanner.closeArray() ? this.#end() : true;
  }

  #end(): false {
    if (!this.#scanner.atEnd()) {
      this.problem = `${pointTexts.format}: after the points came ${this.#here()}; a message holds one array of points`;
    }
    return false;
  }

  #here(): string {
    const { position, text } = this.#scanner;
    return JSON.stringify(text.slice(position, position + 20));
  }
}
