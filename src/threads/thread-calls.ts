import { ERROR_CLASSES } from '../connect/error-classes.ts';
import { toError } from '../errors.ts';

type AnyFunction = (...values: never[]) => unknown;
type Values<F> = F extends (...values: infer V) => unknown ? V : never;
type Outcome<F> = F extends (...values: never[]) => infer R ? Awaited<R> : never;

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly values: unknown[] }
  | { readonly kind: 'tell'; readonly name: string; readonly values: unknown[] }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: PackedError };

/** One end of a channel between threads. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

interface OpenCall {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Calls functions in another thread. Messages arrive in the order in which they were sent. Values are copied (structured
 * clone). `Own` contains the functions of this side, and `Other` those of the other side.
 */
export class ThreadCalls<Own extends object, Other extends object> {
  readonly #port: Port;
  readonly #own: Own;
  readonly #open = new Map<number, OpenCall>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(port: Port, own: Own) {
    this.#port = port;
    this.#own = own;
    port.on('message', (message) => {
      void this.#onMessage(message as Message);
    });
  }

  /**
   * Calls a function and resolves with its result. Rejects with the error of the other side, or if the channel is closed before
   * the response.
   */
  call<K extends keyof Other & string>(name: K, ...values: Values<Other[K]>): Promise<Outcome<Other[K]>> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const id = ++this.#lastId;
    return new Promise<Outcome<Other[K]>>((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      this.#port.postMessage({ kind: 'call', id, name, values } satisfies Message);
    });
  }

  /** Calls a function without waiting for a response. */
  tell<K extends keyof Other & string>(name: K, ...values: Values<Other[K]>): void {
    if (this.#closed === undefined) this.#port.postMessage({ kind: 'tell', name, values } satisfies Message);
  }

  /** Rejects pending and later calls, because the other side has ended. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject } of this.#open.values()) reject(reason);
    this.#open.clear();
  }

  async #onMessage(message: Message): Promise<void> {
    switch (message.kind) {
      case 'tell':
        this.#run(message);
        break;
      case 'call':
        await this.#answer(message);
        break;
      case 'answer':
        this.#take(message.id)?.resolve(message.value as never);
        break;
      case 'refusal':
        this.#take(message.id)?.reject(unpackError(message.error));
        break;
    }
  }

  #run({ name, values }: { readonly name: string; readonly values: unknown[] }): unknown {
    const own = Object.hasOwn(this.#own, name) ? (this.#own[name as keyof Own] as AnyFunction) : undefined;
    if (own === undefined) throw new Error(`This thread has no function ${name}`);
    return own(...(values as never[]));
  }

  async #answer(message: Extract<Message, { kind: 'call' }>): Promise<void> {
    const { id } = message;
    try {
      const value = await this.#run(message);
      if (this.#closed === undefined) this.#port.postMessage({ kind: 'answer', id, value } satisfies Message);
    } catch (thrown) {
      // The error is that of the function, or that of `postMessage` if the result cannot be cloned.
      const error = packError(toError(thrown));
      if (this.#closed === undefined) this.#port.postMessage({ kind: 'refusal', id, error } satisfies Message);
    }
  }

  #take(id: number): OpenCall | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    return call;
  }
}

/** A serialized error. It preserves the class and its fields, which a structured clone loses; see `unpackError`. */
export interface PackedError {
  /** Name of the first of `ERROR_CLASSES` to which the error belongs. */
  readonly className: string | undefined;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Own properties with simple values, such as `scope`, `sqlstate`, or the code of a system error. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause: PackedError | undefined;
}

/** Maximum depth of the chain of causes. */
const MAX_CAUSES = 10;

export function packError(error: Error, depth = 0): PackedError {
  return {
    className: ERROR_CLASSES.find((known) => error instanceof known)?.name,
    name: error.name,
    message: error.message,
    stack: error.stack,
    fields: simpleFields(error),
    cause: error.cause === undefined || depth >= MAX_CAUSES ? undefined : packError(toError(error.cause), depth + 1),
  };
}

/** Restores an error with its name, its fields and its class, if that is one of `ERROR_CLASSES`. */
export function unpackError({ className, name, message, stack, fields, cause }: PackedError): Error {
  const error = new Error(message, cause === undefined ? {} : { cause: unpackError(cause) });
  const known = ERROR_CLASSES.find((candidate) => candidate.name === className);
  // The constructors have different parameters, and everything that they set is among the fields.
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, fields, { name });
}

function simpleFields(error: Error): Record<string, unknown> {
  const isSimple = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
  return Object.fromEntries(Object.entries(error).filter(([, value]) => isSimple(value)));
}
