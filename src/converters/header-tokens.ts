const BLANK = 32;
const BACKSLASH = 92;
const IS_DELIMITER = new Uint8Array(128);
for (const delimiter of ':,{}[]"') IS_DELIMITER[delimiter.charCodeAt(0)] = 1;

/**
 * Tokenizer of a header's text (org.apache.kafka.connect.data.Values.Parser). Tokens are delimiters without a preceding
 * backslash, and the texts between them. The caller can mark a position and rewind to it. Because a token is compared several
 * times, its start and end are cached so that it is scanned only once.
 */
export class HeaderTokens {
  readonly text: string;
  /** Number of values that were read so far. */
  literals = 0;
  #at = 0;
  /** Start of a token that was scanned but not taken, and that ends at `#at`; -1 if there is no such token. */
  #peekedFrom = -1;
  /** Start and end of the token that was scanned last. */
  #start = -1;
  #end = -1;
  #trimmedStart = 0;
  #trimmedEnd = 0;

  constructor(text: string) {
    this.text = text;
  }

  mark(): number {
    return this.#peekedFrom < 0 ? this.#at : this.#peekedFrom;
  }

  rewindTo(mark: number): void {
    this.#at = mark;
    this.#peekedFrom = -1;
  }

  hasNext(): boolean {
    return this.#peekedFrom >= 0 || this.#at < this.text.length;
  }

  skip(): void {
    if (this.#peekedFrom < 0) this.#scan();
    this.#peekedFrom = -1;
  }

  next(): string {
    const start = this.mark();
    this.skip();
    return this.text.slice(start, this.#at);
  }

  /**
   * Takes the next `count` tokens and returns their text. If there are fewer tokens, or if the tokens before the last
   * one are longer than `maxLength` together, takes nothing and returns `undefined`.
   */
  nextText(count: number, maxLength: number): string | undefined {
    const start = this.mark();
    for (let taken = 0; taken < count; taken++) {
      if (!this.hasNext() || this.#at - start > maxLength) {
        this.rewindTo(start);
        return undefined;
      }
      this.skip();
    }
    return this.text.slice(start, this.#at);
  }

  /** Whether `char` is the next character. */
  isBefore(char: string): boolean {
    return this.text.startsWith(char, this.mark());
  }

  /** Takes the next token if it is the expected one, ignoring blanks around it. Blank tokens before it are skipped in any case. */
  take(expected: string): boolean {
    if (this.#peekedFrom < 0) {
      if (this.#at >= this.text.length) return false;
      this.#peek();
    }
    while (this.#trimmedStart === this.#trimmedEnd && this.#at < this.text.length) this.#peek();
    if (this.#trimmedEnd - this.#trimmedStart !== expected.length) return false;
    if (!this.text.startsWith(expected, this.#trimmedStart)) return false;
    this.#peekedFrom = -1;
    return true;
  }

  #peek(): void {
    this.#peekedFrom = this.#at;
    this.#scan();
  }

  #scan(): void {
    const { text } = this;
    const start = this.#at;
    if (start === this.#start) {
      this.#at = this.#end;
      return;
    }
    let at = start;
    let escaped = false;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) {
        escaped = !escaped;
      } else if (code < 128 && IS_DELIMITER[code] === 1 && !escaped) {
        if (start === at) at++;
        break;
      } else {
        escaped = false;
      }
    }
    this.#at = at;
    this.#start = start;
    this.#end = at;
    let [from, to] = [start, at];
    while (from < to && text.charCodeAt(from) <= BLANK) from++;
    while (to > from && text.charCodeAt(to - 1) <= BLANK) to--;
    this.#trimmedStart = from;
    this.#trimmedEnd = to;
  }
}
