import { BoundedMap } from '../data/bounded-map.ts';

const HIDDEN = '[hidden]';
/** Shorter values are not hidden, because they cannot be distinguished from other text. */
const MIN_LENGTH = 4;
/** Values of at least this length are hidden everywhere; shorter ones (`test`) only as whole words. */
const MIN_LENGTH_WITHIN_WORDS = 8;
/** Maximum number of spellings, so that log lines stay cheap even if a provider returns a new value every minute. */
const MAX_SPELLINGS = 1000;

/** Hides secrets, such as the values of config providers, in texts that are shown or logged. */
export class SecretMask {
  readonly #spellings = new BoundedMap<string, true>(MAX_SPELLINGS);
  /** Built on demand, because several values are usually added at a time. */
  #pattern: RegExp | undefined;
  readonly #onAdd = new Set<(value: string) => void>();

  /** All texts that are hidden, for a mask in another thread. */
  values(): string[] {
    return [...this.#spellings.keys()];
  }

  /** `listener` is called for every new value, until the returned function is called. */
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

  /** Replaces every known secret in the text by `[hidden]`. */
  hide(text: string): string {
    if (this.#spellings.size === 0) return text;
    this.#pattern ??= patternOf(this.#spellings.keys());
    return text.replace(this.#pattern, HIDDEN);
  }
}

/** The spellings of a value: unchanged, trimmed, line by line, and in JSON and URLs. */
function spellingsOf(value: string): Set<string> {
  const parts = [value, value.trim(), ...value.split(/\r?\n/).map((line) => line.trim())];
  const spellings = parts.flatMap((part) => [
    part,
    JSON.stringify(part).slice(1, -1),
    encodeURIComponent(wellFormed(part)),
  ]);
  return new Set(spellings.filter(({ length }) => length >= MIN_LENGTH));
}

/** Replaces lone surrogates, which cannot be encoded in URLs. */
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
