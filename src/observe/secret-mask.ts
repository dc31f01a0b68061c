import { BoundedMap } from '../data/bounded-map.ts';

const HIDDEN = '[hidden]';
/** A shorter value cannot be distinguished from other text. */
const MIN_LENGTH = 4;
/** From here on a value is hidden wherever it stands; shorter ones (`test`) as whole words only. */
const MIN_LENGTH_WITHIN_WORDS = 8;
/** Spellings kept, the newest: bounds what a line of the log costs when a provider changes a value every minute. */
const MAX_SPELLINGS = 1000;

/** Knows the values that config providers gave, and takes them out of text that is to be shown or logged. */
export class SecretMask {
  readonly #spellings = new BoundedMap<string, true>(MAX_SPELLINGS);
  /** Made when it is needed: values come several at a time. */
  #pattern: RegExp | undefined;
  readonly #onAdd = new Set<(value: string) => void>();

  /** All that is hidden, for a mask in another thread. */
  values(): string[] {
    return [...this.#spellings.keys()];
  }

  /** `listener` gets every value that comes, until the function given back is called. */
  onAdd(listener: (value: string) => void): () => void {
    this.#onAdd.add(listener);
    return () => this.#onAdd.delete(listener);
  }

  add(value: string): void {
    let isNew = false;
    for (const spelling of spellingsOf(value)) {
      isNew ||= !this.#spellings.has(spelling);
      this.#spellings.set(spelling, true);
    }
    if (!isNew) return;
    for (const listener of this.#onAdd) listener(value);
    this.#pattern = undefined;
  }

  /** The text with `[hidden]` in place of every such value. */
  hide(text: string): string {
    if (this.#spellings.size === 0) return text;
    this.#pattern ??= patternOf(this.#spellings.keys());
    return text.replace(this.#pattern, HIDDEN);
  }
}

/** As it is, without blanks around it, line by line, and as JSON and URLs spell it. */
function spellingsOf(value: string): Set<string> {
  const parts = [value, value.trim(), ...value.split(/\r?\n/).map((line) => line.trim())];
  const spellings = parts.flatMap((part) => [
    part,
    JSON.stringify(part).slice(1, -1),
    encodeURIComponent(wellFormed(part)),
  ]);
  return new Set(spellings.filter(({ length }) => length >= MIN_LENGTH));
}

/** A lone surrogate, of which there is no URL, becomes a replacement character. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function patternOf(spellings: Iterable<string>): RegExp {
  const longestFirst = [...spellings].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(alternative).join('|'), 'g');
}

function alternative(spelling: string): string {
  const literal = spelling.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return spelling.length >= MIN_LENGTH_WITHIN_WORDS ? literal : `(?<![A-Za-z0-9_])${literal}(?![A-Za-z0-9_])`;
}
