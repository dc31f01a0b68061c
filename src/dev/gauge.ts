import { within } from '../async/within.ts';
import { firstCause } from '../errors.ts';

/** A service that does not answer. */
export interface Absence {
  readonly service: string;
  /** When it was noticed. */
  readonly since: Date;
  /** The first cause, in one line. */
  readonly reason: string;
}

/** An answer that takes longer counts as none. */
const PATIENCE_MS = 10_000;

/** A number that a service is asked for again and again. While the service is away, the last answer stands. */
export class Gauge {
  readonly #service: string;
  readonly #ask: () => Promise<number>;
  readonly #patienceMs: number;
  #value: number | undefined;
  #absence: Absence | undefined;
  #asked: { readonly at: number; readonly answer: Promise<void> } | undefined;

  /** `ask` ends by itself at some time, whether the service answers or not. */
  constructor(service: string, ask: () => Promise<number>, patienceMs = PATIENCE_MS) {
    this.#service = service;
    this.#ask = ask;
    this.#patienceMs = patienceMs;
  }

  /** `undefined` before the first answer. */
  get value(): number | undefined {
    return this.#value;
  }

  get absence(): Absence | undefined {
    return this.#absence;
  }

  /** Asks, unless the last answer is still awaited; resolves with the answer, at the latest after `limitMs`. Never rejects. */
  async read(limitMs: number): Promise<void> {
    this.#asked ??= { at: Date.now(), answer: this.#look(Date.now()) };
    const { at, answer } = this.#asked;
    const answered = await within(answer, limitMs);
    if (!answered && Date.now() - at >= this.#patienceMs) this.#miss(at, 'it does not answer');
  }

  async #look(at: number): Promise<void> {
    try {
      this.#value = await this.#ask();
      this.#absence = undefined;
    } catch (error) {
      this.#miss(at, firstLine(error));
    } finally {
      this.#asked = undefined;
    }
  }

  #miss(at: number, reason: string): void {
    this.#absence = { service: this.#service, since: this.#absence?.since ?? new Date(at), reason };
  }
}

function firstLine(error: unknown): string {
  return firstCause(error).message.split('\n', 1)[0] ?? '';
}
