import type { FleetLook } from '../fleet/fleet.ts';
import { toError } from '../../errors.ts';
import type { FleetNews } from './console-answers.ts';
import { eventBytes } from './event-stream.ts';

interface FleetSource {
  look(): Promise<FleetLook>;
  /** The listener is called when something may have changed. Returns the function that unsubscribes it. */
  onChange(listener: () => void): () => void;
}

/** Receives a server-sent event with its data: `FleetNews` for `rows`, a message for `failure`. */
type Listener = (event: Buffer) => void;

const INTERVAL_MS = 5000;
/** Delay after a change, so that changes in quick succession are read together. */
const CHANGE_MS = 500;
/** Delay before the next read if a worker has only just stopped answering. */
const DOUBT_MS = 1000;

/**
 * Reads the state of all connectors while a console is open: five seconds after the last read, or sooner after a change
 * of state or if a worker has only just stopped answering. All consoles share the same reads.
 */
export class FleetFeed {
  readonly #listeners = new Set<Listener>();
  /** Listeners that get all rows once, because rows may have changed between their snapshot and their subscription. */
  readonly #newcomers = new Set<Listener>();
  readonly #source: FleetSource;
  readonly #intervalMs: number;
  #endChanges: () => void = () => undefined;
  #isChanged = false;
  #texts = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<FleetLook> | undefined;

  /** The state is read from `source` again `intervalMs` after the last answer. */
  constructor(source: FleetSource, intervalMs = INTERVAL_MS) {
    this.#source = source;
    this.#intervalMs = intervalMs;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  async snapshot(): Promise<FleetNews> {
    const { rows, silent } = await this.#look();
    const at = Date.now();
    return { at, rows, gone: [], total: rows.length, silent: silentSince(silent, at) };
  }

  /** Returns the function that unsubscribes the listener. */
  listen(listener: Listener): () => void {
    if (this.#listeners.size === 0) {
      this.#endChanges = this.#source.onChange(() => {
        this.#lookSoon();
      });
    }
    this.#listeners.add(listener);
    this.#newcomers.add(listener);
    this.#lookSoon();
    return () => {
      this.#listeners.delete(listener);
      this.#newcomers.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#endChanges();
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isChanged = false;
    };
  }

  #lookSoon(): void {
    if (!this.#isChanged) this.#lookAfter(Math.min(CHANGE_MS, this.#intervalMs));
    this.#isChanged = true;
  }

  #lookAfter(ms: number): void {
    clearTimeout(this.#timer);
    const timer = setTimeout(() => void this.#readAndSend(timer), ms).unref();
    this.#timer = timer;
  }

  async #readAndSend(timer: NodeJS.Timeout): Promise<void> {
    this.#isChanged = false;
    let isInDoubt = false;
    try {
      const look = await this.#look();
      isInDoubt = look.silent.some(({ isCertain }) => !isCertain);
      this.#sendRows(look);
    } catch (error) {
      const event = eventBytes('failure', { message: toError(error).message });
      for (const listener of this.#listeners) listener(event);
    }
    // The next read is already scheduled if there was a change during this read, or if all consoles were closed and
    // another one was opened.
    if (this.#timer === timer) this.#lookAfter(isInDoubt ? Math.min(DOUBT_MS, this.#intervalMs) : this.#intervalMs);
  }

  #sendRows(look: FleetLook): void {
    const news = this.#take(look);
    const event = eventBytes('rows', news);
    const all = this.#newcomers.size === 0 ? event : eventBytes('rows', { ...news, rows: look.rows });
    for (const listener of this.#listeners) listener(this.#newcomers.has(listener) ? all : event);
    this.#newcomers.clear();
  }

  /** Consoles that ask at the same time share one answer, so that many consoles cost the other workers one request. */
  #look(): Promise<FleetLook> {
    this.#running ??= this.#source.look().finally(() => (this.#running = undefined));
    return this.#running;
  }

  #take({ rows, silent }: FleetLook): FleetNews {
    const texts = new Map(rows.map((row) => [row.name, JSON.stringify(row)] as const));
    const changed = rows.filter(({ name }) => texts.get(name) !== this.#texts.get(name));
    const gone = [...this.#texts.keys()].filter((name) => !texts.has(name));
    this.#texts = texts;
    const at = Date.now();
    return { at, rows: changed, gone, total: rows.length, silent: silentSince(silent, at) };
  }
}

function silentSince(silent: FleetLook['silent'], now: number): FleetNews['silent'] {
  return silent.flatMap(({ worker, silentMs, isCertain }) =>
    isCertain ? { worker, since: Math.round(now - silentMs) } : [],
  );
}
