import type { FleetRow } from '../../herder/fleet/fleet.ts';
import { toError } from '../../errors.ts';

/** All rows of the fleet, or those that are new or have changed. */
export interface FleetNews {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly rows: readonly FleetRow[];
  /** Connectors that are no longer there. */
  readonly gone: readonly string[];
  /** How many there are now: a console that has another number asks for all rows again. */
  readonly total: number;
}

type Listener = (event: 'rows' | 'failure', data: FleetNews | { readonly message: string }) => void;

const INTERVAL_MS = 5000;

/** Looks at all connectors every five seconds while a console is open, once for all consoles. */
export class FleetFeed {
  readonly #listeners = new Set<Listener>();
  readonly #look: () => Promise<readonly FleetRow[]>;
  readonly #intervalMs: number;
  #texts = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<readonly FleetRow[]> | undefined;

  /** `look` is asked again when the last answer has come and `intervalMs` have passed. */
  constructor(look: () => Promise<readonly FleetRow[]>, intervalMs = INTERVAL_MS) {
    this.#look = look;
    this.#intervalMs = intervalMs;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  async snapshot(): Promise<FleetNews> {
    const rows = await this.#rows();
    return { at: Date.now(), rows, gone: [], total: rows.length };
  }

  /** Returns what ends the listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#timer ??= this.#next();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  #next(): NodeJS.Timeout {
    const timer = setTimeout(() => void this.#tell(timer), this.#intervalMs).unref();
    return timer;
  }

  async #tell(timer: NodeJS.Timeout): Promise<void> {
    try {
      const change = this.#take(await this.#rows());
      for (const listener of this.#listeners) listener('rows', change);
    } catch (error) {
      for (const listener of this.#listeners) listener('failure', { message: toError(error).message });
    }
    // Another timer runs where all consoles were closed in between, and one was opened.
    if (this.#timer === timer) this.#timer = this.#next();
  }

  /** Consoles that ask at the same time get one answer, so that many cost the other workers no more than one. */
  #rows(): Promise<readonly FleetRow[]> {
    this.#running ??= this.#look().finally(() => (this.#running = undefined));
    return this.#running;
  }

  #take(rows: readonly FleetRow[]): FleetNews {
    const texts = new Map(rows.map((row) => [row.name, JSON.stringify(row)] as const));
    const changed = rows.filter(({ name }) => texts.get(name) !== this.#texts.get(name));
    const gone = [...this.#texts.keys()].filter((name) => !texts.has(name));
    this.#texts = texts;
    return { at: Date.now(), rows: changed, gone, total: rows.length };
  }
}
