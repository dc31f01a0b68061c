import { javaTrim } from '../../data/java-text.ts';

const DELIMITERS = new Set([':', ',', '{', '}', '[', ']', '"']);

/**
 * Tokens of a header's text: delimiters that no backslash precedes, and what stands between them. A position can be
 * marked and gone back to (org.apache.kafka.connect.data.Values.Parser).
 */
export class HeaderTokens {
  readonly text: string;
  #at = 0;
  /** A token that was looked at but not taken. */
  #peeked: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  mark(): number {
    return this.#at - (this.#peeked?.length ?? 0);
  }

  rewindTo(mark: number): void {
    this.#at = mark;
    this.#peeked = undefined;
  }

  hasNext(): boolean {
    return this.#peeked !== undefined || this.#at < this.text.length;
  }

  next(): string {
    const token = this.#peeked ?? this.#scan();
    this.#peeked = undefined;
    return token;
  }

  /** The text of the next `count` tokens; `undefined`, with nothing taken, when there are fewer. */
  nextText(count: number): string | undefined {
    const start = this.mark();
    for (let taken = 0; taken < count; taken++) {
      if (!this.hasNext()) {
        this.rewindTo(start);
        return undefined;
      }
      this.next();
    }
    return this.text.slice(start, this.#at);
  }

  /** Takes the next token when it is the expected one; blanks before and around it are passed over. */
  take(expected: string): boolean {
    if (this.#peeked === undefined) {
      if (!this.hasNext()) return false;
      this.#peeked = this.#scan();
    }
    while (javaTrim(this.#peeked) === '' && this.#at < this.text.length) this.#peeked = this.#scan();
    if (javaTrim(this.#peeked) !== expected) return false;
    this.#peeked = undefined;
    return true;
  }

  #scan(): string {
    const start = this.#at;
    let escaped = false;
    for (; this.#at < this.text.length; this.#at++) {
      const char = this.text.charAt(this.#at);
      if (char === '\\') {
        escaped = !escaped;
      } else if (DELIMITERS.has(char) && !escaped) {
        if (start === this.#at) this.#at++;
        break;
      } else {
        escaped = false;
      }
    }
    return this.text.slice(start, this.#at);
  }
}
