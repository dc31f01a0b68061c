/**
 * java.util.regex patterns as JavaScript ones. Syntax that would match something else here is translated (`\Q…\E`, `\z`,
 * `\h`, POSIX classes, class intersections, flags in front); what cannot be is refused with a reason, never guessed.
 */

/** A Java pattern that is malformed, or that has no counterpart here. */
export class JavaRegexError extends Error {}

/** Compiles a Java pattern for use with `exec` and `replace`; throws a JavaRegexError that says what is wrong where. */
export function javaRegex(pattern: string): RegExp {
  const { flags, rest } = leadingFlags(pattern);
  return compile(new Translation(rest).translate(), flags, pattern);
}

/** `Matcher.matches`: whether the whole text matches. Throws as `javaRegex` does. */
export function javaRegexMatcher(pattern: string): (text: string) => boolean {
  const { flags, rest } = leadingFlags(pattern);
  const whole = compile(`^(?:${new Translation(rest).translate()})$`, flags.replace('m', ''), pattern);
  return (text) => whole.test(text);
}

function compile(source: string, flags: string, pattern: string): RegExp {
  try {
    return new RegExp(source, `${flags}v`);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error);
    throw new JavaRegexError(`${reason} in ${pattern}`);
  }
}

/** `(?i)`, `(?s)`, `(?m)` at the very beginning hold for the whole pattern; `(?u)` and `(?d)` change nothing here. */
function leadingFlags(pattern: string): { flags: string; rest: string } {
  const match = /^\(\?([a-zA-Z]+)\)/.exec(pattern);
  if (match === null) return { flags: '', rest: pattern };
  const given = match[1] ?? '';
  const unknown = /[^ismudU]/.exec(given)?.[0];
  if (unknown !== undefined) throw new JavaRegexError(`The flag ${unknown} is not supported in ${pattern}`);
  return {
    flags: ['i', 's', 'm'].filter((flag) => given.includes(flag)).join(''),
    rest: pattern.slice(match[0].length),
  };
}

const BLANKS = ' \\t\\n\\x0B\\f\\r';
const HORIZONTAL = ' \\t\\xA0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000';
const VERTICAL = '\\n\\x0B\\f\\r\\x85\\u2028\\u2029';

/** Escapes that stand for several characters, as the content of a class. */
const SETS: Readonly<Record<string, string>> = { s: BLANKS, h: HORIZONTAL, v: VERTICAL };

/** POSIX and Java classes by name, as the content of a class; they mean ASCII only. */
const PROPERTIES: Readonly<Record<string, string>> = {
  Lower: 'a-z',
  Upper: 'A-Z',
  ASCII: '\\x00-\\x7F',
  Alpha: 'a-zA-Z',
  Digit: '0-9',
  Alnum: 'a-zA-Z0-9',
  Punct: '!-\\/:-@\\[-`\\{-~',
  Graph: '!-~',
  Print: ' -~',
  Blank: ' \\t',
  Cntrl: '\\x00-\\x1F\\x7F',
  XDigit: '0-9a-fA-F',
  Space: BLANKS,
  javaLowerCase: '\\p{Lowercase}',
  javaUpperCase: '\\p{Uppercase}',
  javaWhitespace: '\\p{White_Space}',
};

const SYNTAX = new Set([...'^$\\.*+?()[]{}|/']);
/** Inside a class these need a backslash, alone or because two of a kind would mean something. */
const CLASS_SYNTAX = new Set([...'^$\\()[]{}|/-&!#%,.:;<=>@`~*+?']);

/** One pass over a pattern; the source it gives is for the `v` flag. */
class Translation {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  translate(): string {
    let source = '';
    while (this.#at < this.#pattern.length) source += this.#next();
    return source;
  }

  #next(): string {
    const char = this.#pattern.charAt(this.#at);
    if (char === '\\') return this.#escape(false);
    if (char === '[') return this.#class();
    if (char === '(') return this.#group();
    if (char === ']' || char === '}') return this.#literal();
    if ('*+?'.includes(char) || (char === '{' && this.#repetition() !== undefined)) return this.#quantifier(char);
    if (char === '{') this.#fail('Illegal repetition');
    this.#at++;
    return char;
  }

  #literal(syntax: ReadonlySet<string> = SYNTAX): string {
    const char = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += char.length;
    return syntax.has(char) ? `\\${char}` : char;
  }

  #repetition(): string | undefined {
    return /^\{\d+(?:,\d*)?\}/.exec(this.#pattern.slice(this.#at))?.[0];
  }

  #quantifier(char: string): string {
    const text = char === '{' ? (this.#repetition() ?? '') : char;
    this.#at += text.length;
    const after = this.#pattern.charAt(this.#at);
    if (after === '+') this.#fail('Possessive quantifiers are not supported');
    if (after === '?') this.#at++;
    return after === '?' ? `${text}?` : text;
  }

  #group(): string {
    const rest = this.#pattern.slice(this.#at);
    if (rest.startsWith('(?>')) this.#fail('Independent groups (?>…) are not supported');
    const flags = /^\(\?[a-zA-Z]*-?[a-zA-Z]*[):]/.exec(rest)?.[0];
    if (flags !== undefined && flags !== '(?:') this.#fail('Flags are supported at the beginning only');
    const head = /^\((?:\?(?:[:=!]|<[=!]|<[a-zA-Z][a-zA-Z0-9]*>))?/.exec(rest)?.[0] ?? '(';
    this.#at += head.length;
    return head;
  }

  /** `\…`, inside a class or not. */
  #escape(inClass: boolean): string {
    const char = this.#pattern.charAt(this.#at + 1);
    if (char === '') this.#fail('Unexpected internal error: a backslash at the end');
    const lower = char.toLowerCase();
    const set = SETS[lower];
    if (set !== undefined) return this.#take(2, char === lower ? (inClass ? set : `[${set}]`) : `[^${set}]`);
    switch (char) {
      case 'Q':
        return this.#quoted(inClass ? CLASS_SYNTAX : SYNTAX);
      case 'E':
        return this.#take(2, '');
      case 'p':
      case 'P':
        return this.#property();
      case 'x':
      case 'u':
      case '0':
        return this.#codePoint();
      case 'a':
        return this.#take(2, '\\x07');
      case 'e':
        return this.#take(2, '\\x1B');
      case 'k':
        return this.#take(2, '\\k');
      case 'c':
        return this.#take(3, `\\x${hex((this.#pattern.charCodeAt(this.#at + 2) ^ 64) & 0xff)}`);
    }
    if (!inClass) {
      if (char === 'A') return this.#take(2, '(?<![\\s\\S])');
      if (char === 'z') return this.#take(2, '(?![\\s\\S])');
      if (char === 'Z') return this.#take(2, '(?=\\n?(?![\\s\\S]))');
      if (char === 'R') return this.#take(2, `(?:\\r\\n|[${VERTICAL}])`);
      if ('bB123456789'.includes(char)) return this.#take(2, `\\${char}`);
    }
    if ('dDwWtnrf'.includes(char)) return this.#take(2, `\\${char}`);
    if (/[a-zA-Z0-9]/.test(char)) this.#fail(`Illegal/unsupported escape sequence \\${char}`);
    this.#at++;
    return this.#literal(inClass ? CLASS_SYNTAX : SYNTAX);
  }

  #take(length: number, source: string): string {
    this.#at += length;
    return source;
  }

  #quoted(syntax: ReadonlySet<string>): string {
    const end = this.#pattern.indexOf('\\E', this.#at + 2);
    const stop = end < 0 ? this.#pattern.length : end;
    this.#at += 2;
    let source = '';
    while (this.#at < stop) source += this.#literal(syntax);
    this.#at = end < 0 ? stop : stop + 2;
    return source;
  }

  #property(): string {
    const [all = '', letter = '', braced, single] =
      /^\\([pP])(?:\{(\^?[^}]*)\}|(.))/.exec(this.#pattern.slice(this.#at)) ?? [];
    if (all === '') this.#fail('Unclosed character family');
    const negated = (letter === 'P') !== (braced?.startsWith('^') ?? false);
    const name = (braced ?? single ?? '').replace(/^\^/, '');
    const ascii = PROPERTIES[name];
    const source =
      ascii === undefined ? `\\${negated ? 'P' : 'p'}{${unicodeProperty(name)}}` : `[${negated ? '^' : ''}${ascii}]`;
    return this.#take(all.length, source);
  }

  #codePoint(): string {
    const rest = this.#pattern.slice(this.#at);
    const match =
      /^\\x([0-9a-fA-F]{2})/.exec(rest) ??
      /^\\u([0-9a-fA-F]{4})/.exec(rest) ??
      /^\\x\{([0-9a-fA-F]{1,6})\}/.exec(rest) ??
      undefined;
    const octal = /^\\0([0-3]?[0-7]{1,2})/.exec(rest);
    if (match !== undefined) return this.#take(match[0].length, `\\u{${match[1] ?? '0'}}`);
    if (octal === null) return this.#fail('Illegal hexadecimal or octal escape sequence');
    return this.#take(octal[0].length, `\\u{${hex(Number.parseInt(octal[1] ?? '0', 8))}}`);
  }

  /** A class in brackets; `&&` takes the whole of either side, so that both become classes of their own. */
  #class(): string {
    this.#at++;
    const negated = this.#pattern.charAt(this.#at) === '^';
    if (negated) this.#at++;
    const operands: string[] = [];
    let operand = '';
    for (let first = true; ; first = false) {
      const char = this.#pattern.charAt(this.#at);
      if (char === '') this.#fail('Unclosed character class');
      if (char === ']' && !first) break;
      if (this.#pattern.startsWith('&&', this.#at)) {
        this.#at += 2;
        operands.push(operand);
        operand = '';
      } else {
        operand += this.#member(char);
      }
    }
    this.#at++;
    const filled = [...operands, operand].filter((each) => each !== '');
    const content = filled.length > 1 ? filled.map((each) => `[${each}]`).join('&&') : (filled[0] ?? '');
    return `[${negated ? '^' : ''}${content}]`;
  }

  #member(char: string): string {
    if (char === '[') return this.#class();
    if (char === '\\') return this.#escape(true);
    return char === '-' && this.#isRange() ? this.#take(1, '-') : this.#literal(CLASS_SYNTAX);
  }

  /** A minus between two members; at either end of the class it stands for itself. */
  #isRange(): boolean {
    const [before, after] = [this.#pattern.charAt(this.#at - 1), this.#pattern.charAt(this.#at + 1)];
    return !['[', '^', ''].includes(before) && ![']', '[', '&', ''].includes(after);
  }

  #fail(reason: string): never {
    throw new JavaRegexError(`${reason} near index ${String(this.#at)} in ${this.#pattern}`);
  }
}

/** `IsLatin`, `script=Latin`, `L`, `general_category=Lu` and the like, as JavaScript names them. */
function unicodeProperty(name: string): string {
  const [key, value] = name.split('=', 2);
  if (value !== undefined)
    return `${/^(script|sc|IsScript)$/i.test(key ?? '') ? 'Script' : 'General_Category'}=${value}`;
  const bare = name.replace(/^Is/, '');
  if (/^[A-Z][a-z]?$/.test(bare) || bare === 'LC') return bare;
  if (BINARY.has(bare)) return bare === 'Letter' ? 'L' : bare;
  return `Script=${bare}`;
}

const BINARY = new Set(['Alphabetic', 'Letter', 'Lowercase', 'Uppercase', 'White_Space', 'Ideographic', 'Emoji']);

function hex(code: number): string {
  return code.toString(16).padStart(2, '0');
}
