import { messageWithCause, SluiceError } from '../../errors.ts';
import type { FailureContext, FailureReporter } from './error-policy.ts';
import { failurePlace, type FailurePlace } from './failure-place.ts';

/** A failed record, as its task remembers it. It is plain data, so that it can be sent to other threads. */
export interface RecentFault extends FailurePlace {
  readonly task: number;
  /** When the record failed, in milliseconds since the epoch. */
  readonly at: number;
  readonly stage: string;
  /** The converter, transform or task class that failed. */
  readonly className: string;
  /** The Java name of the exception. */
  readonly exception: string;
  readonly message: string;
  readonly record: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
    readonly timestamp: number;
    /** The first 256 bytes of the key in hexadecimal; `valueHex` has those of the value. */
    readonly keyHex: string | null;
    readonly valueHex: string | null;
  };
}

const MAX_FAULTS = 100;
const MAX_CHARACTERS = 256_000;
const MAX_MESSAGE = 2_000;
const HEX_BYTES = 256;

/** Remembers the last faults of one task: at most 100 faults and 256,000 characters. */
export class RecentFaults implements FailureReporter {
  readonly #task: number;
  readonly #hide: (text: string) => string;
  readonly #faults: { readonly fault: RecentFault; readonly size: number }[] = [];
  #size = 0;

  /** `hide` removes secrets from messages. */
  constructor(task: number, hide: (text: string) => string) {
    this.#task = task;
    this.#hide = hide;
  }

  /** The faults, oldest first. */
  list(): readonly RecentFault[] {
    return this.#faults.map(({ fault }) => fault);
  }

  async report({ stage, className, error, consumed }: FailureContext): Promise<void> {
    if (consumed === undefined) return Promise.resolve();
    const { topic, partition, offset, timestamp, key, value } = consumed;
    const message = this.#hide(messageWithCause(error)).slice(0, MAX_MESSAGE);
    const fault: RecentFault = {
      task: this.#task,
      at: Date.now(),
      stage,
      className,
      exception: error instanceof SluiceError ? error.javaName : 'java.lang.RuntimeException',
      message,
      ...failurePlace(error),
      record: { topic, partition, offset, timestamp, keyHex: hexOf(key), valueHex: hexOf(value) },
    };
    const size = message.length + (fault.record.keyHex?.length ?? 0) + (fault.record.valueHex?.length ?? 0) + 500;
    this.#faults.push({ fault, size });
    this.#size += size;
    while (this.#faults.length > MAX_FAULTS || (this.#size > MAX_CHARACTERS && this.#faults.length > 1)) {
      this.#size -= this.#faults.shift()?.size ?? 0;
    }
    return Promise.resolve();
  }

  async close(): Promise<void> {
    // The recent faults can be requested even after the task has ended, so they are kept.
    return Promise.resolve();
  }
}

function hexOf(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.subarray(0, HEX_BYTES).toString('hex');
}
