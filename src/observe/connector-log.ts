import { pino } from 'pino';

/** A log line about a connector. Its text contains no secrets. */
export interface ConnectorLogLine {
  /** Increases with each line, even after a restart of the worker. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: string;
  readonly task: number | null;
  readonly thread: number | null;
  readonly logger: string;
  /** The message, followed by the stack trace if the line reports an error. */
  readonly text: string;
}

/** `isCut`: some of the lines after the requested number are no longer kept. Always false for the number 0. */
export interface ConnectorLogPart {
  readonly lines: readonly ConnectorLogLine[];
  readonly isCut: boolean;
}

interface Tail {
  readonly lines: ConnectorLogLine[];
  chars: number;
  /** Number of the last line that was removed. */
  cutAt: number;
}

const MAX_LINES = 500;
const MAX_TEXT = 8192;
/** Limit for all connectors together; a character has at most two bytes. */
const MAX_CHARS = 4_000_000;
/** Memory of a line in addition to its text, in characters. */
const LINE_CHARS = 200;
const CONNECTOR_FIELD = '"connector":"';

/**
 * Keeps the last lines of each connector. At the limit, the lines of the connector that has been silent for longest are
 * removed first.
 */
export class ConnectorLog {
  readonly #tails = new Map<string, Tail>();
  /** The number of the last line of each connector whose lines were all removed. */
  readonly #removed = new Map<string, number>();
  readonly #maxLines: number;
  readonly #maxChars: number;
  #chars = 0;
  #last = Date.now() * 1000;

  constructor(maxLines = MAX_LINES, maxChars = MAX_CHARS) {
    this.#maxLines = maxLines;
    this.#maxChars = maxChars;
  }

  /** Adds a line as the logger writes it: JSON. A line without a connector costs only a text search. */
  note(json: string): void {
    if (!json.includes(CONNECTOR_FIELD)) return;
    const fields = parsed(json);
    const connector = fields?.['connector'];
    if (fields === undefined || typeof connector !== 'string') return;
    this.#last += 1;
    const line = lineOf(this.#last, fields);
    const tail = this.#tails.get(connector) ?? { lines: [], chars: 0, cutAt: this.#removed.get(connector) ?? 0 };
    this.#removed.delete(connector);
    this.#tails.delete(connector);
    this.#tails.set(connector, tail);
    tail.lines.push(line);
    this.#count(tail, sizeOf(line));
    while (tail.lines.length > this.#maxLines || (tail.chars > this.#maxChars && tail.lines.length > 1))
      this.#cut(tail);
    for (const [silent, { lines, chars }] of this.#tails) {
      if (this.#chars <= this.#maxChars || silent === connector) break;
      this.#tails.delete(silent);
      this.#removed.set(silent, lines.at(-1)?.number ?? 0);
      this.#chars -= chars;
    }
  }

  /** The lines with a higher number, the oldest first. */
  after(connector: string, number: number): ConnectorLogPart {
    const tail = this.#tails.get(connector);
    if (tail === undefined) return { lines: [], isCut: number > 0 && number < (this.#removed.get(connector) ?? 0) };
    let from = tail.lines.length;
    while (from > 0 && (tail.lines[from - 1]?.number ?? 0) > number) from -= 1;
    return { lines: tail.lines.slice(from), isCut: number > 0 && number < tail.cutAt };
  }

  #cut(tail: Tail): void {
    const line = tail.lines.shift();
    if (line === undefined) return;
    tail.cutAt = line.number;
    this.#count(tail, -sizeOf(line));
  }

  #count(tail: Tail, chars: number): void {
    tail.chars += chars;
    this.#chars += chars;
  }
}

function sizeOf({ text, logger }: ConnectorLogLine): number {
  return text.length + logger.length + LINE_CHARS;
}

function parsed(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

function lineOf(number: number, fields: Readonly<Record<string, unknown>>): ConnectorLogLine {
  const { connector, task, thread, logger, level, time, msg, err, ...rest } = fields;
  void connector;
  const name = typeof level === 'number' ? (pino.levels.labels[level] ?? '') : String(level);
  const others = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  const stack = (err as { readonly stack?: unknown } | undefined)?.stack;
  const text = `${typeof msg === 'string' ? msg : ''}${others}${typeof stack === 'string' ? `\n${stack}` : ''}`;
  return {
    number,
    at: typeof time === 'string' ? Date.parse(time) : Number(time),
    level: name.toUpperCase(),
    task: typeof task === 'number' ? task : null,
    thread: typeof thread === 'number' ? thread : null,
    logger: typeof logger === 'string' ? logger : '',
    text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text,
  };
}
