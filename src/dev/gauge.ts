import { within } from '../async/within.ts';
import { firstCause } from '../errors.ts';

/** The outage of a service. */
export interface Outage {
  readonly service: string;
  /** When the first request that failed was sent. */
  readonly since: Date;
  /** The innermost cause of the last failure, in one line. */
  readonly reason: string;
}

/** A service that takes longer to answer is considered unreachable. */
const PATIENCE_MS = 10_000;

/** A number that is requested from a service repeatedly. During an outage, the last answer is kept. */
export class Gauge {
  readonly #service: string;
  readonly #request: () => Promise<number>;
  readonly #patienceMs: number;
  #value: number | undefined;
  #outage: Outage | undefined;
  #pending: { readonly at: number; readonly answer: Promise<void> } | undefined;

  /** `request` must settle eventually, even if the service does not answer. */
  constructor(service: string, request: () => Promise<number>, patienceMs = PATIENCE_MS) {
    this.#service = service;
    this.#request = request;
    this.#patienceMs = patienceMs;
  }

  /** `undefined` before the first answer. */
  get value(): number | undefined {
    return this.#value;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** Requests the number, unless a request is pending. Resolves after the answer, or after `limitMs`. Never rejects. */
  async read(limitMs: number): Promise<void> {
    this.#pending ??= { at: Date.now(), answer: this.#update(Date.now()) };
    const { at, answer } = this.#pending;
    const answered = await within(answer, limitMs);
    if (!answered && Date.now() - at >= this.#patienceMs) this.#miss(at, 'it does not answer');
  }

  async #update(at: number): Promise<void> {
    try {
      this.#value = await this.#request();
      this.#outage = undefined;
    } catch (error) {
      this.#miss(at, firstLine(error));
    } finally {
      this.#pending = undefined;
    }
  }

  #miss(at: number, reason: string): void {
    this.#outage = { service: this.#service, since: this.#outage?.since ?? new Date(at), reason };
  }
}

function firstLine(error: unknown): string {
  return firstCause(error).message.split('\n', 1)[0] ?? '';
}
