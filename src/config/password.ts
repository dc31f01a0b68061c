import { inspect } from 'node:util';

const HIDDEN = '[hidden]';

/** A secret option value. However it is printed, it prints as `[hidden]`; only `reveal()` gives the text. */
export class Password {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
