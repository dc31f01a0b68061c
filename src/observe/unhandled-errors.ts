import { AsyncLocalStorage } from 'node:async_hooks';
import { ConnectError, toError } from '../errors.ts';
import type { Logger } from './logger.ts';

/** The task or connector whose code runs, to which unhandled errors are attributed. */
export interface CodeOwner {
  /** `task sink-0` */
  readonly name: string;
  /** Sets the owner to FAILED. */
  readonly onUnhandled: (error: Error) => void;
}

/** Numbers of unhandled errors since the start of this thread, with a known and an unknown owner. */
export const unhandledErrors = { owned: 0, unknown: 0 };

const owners = new AsyncLocalStorage<CodeOwner | undefined>();

/** Runs `work` as code of this owner, including everything that it starts (promises, timers, sockets). */
export function ownedBy<T>(owner: CodeOwner, work: () => T): T {
  return owners.run(owner, work);
}

/** Runs the worker's own code when it is called by the code of an owner. */
export function ownedByNobody<T>(work: () => T): T {
  return owners.run(undefined, work);
}

/** The owner of the running code, such as `task sink-0`; `undefined` for the worker's own code. */
export function currentOwner(): string | undefined {
  return owners.getStore()?.name;
}

/** Maximum number of log lines per minute about errors of unknown origin. All errors are counted. */
const MAX_LOGGED_A_MINUTE = 20;
const MINUTE_MS = 60_000;

/**
 * Installs the handlers of this thread for unhandled errors. After an unhandled rejection, an exception in a timer or
 * an event emitter, or a call of `process.exit`, the task or connector whose code caused it becomes FAILED. An error of
 * unknown origin, such as one in a callback of queueMicrotask, is logged and counted (`sluice_unhandled_errors_total`).
 * The worker continues after each of them, so that no plugin can end the work of the others. Called once per thread.
 */
export function guardProcess(logger: Logger): void {
  const log = new UnknownErrors(logger);
  const onError = (thrown: unknown): void => {
    const error = toError(thrown);
    const owner = owners.getStore();
    if (owner === undefined) {
      unhandledErrors.unknown++;
      log.add(error);
      return;
    }
    unhandledErrors.owned++;
    ownedByNobody(() => {
      owner.onUnhandled(new ConnectError(`Unhandled error in the code of ${owner.name}`, { cause: error }));
    });
  };
  process.on('unhandledRejection', onError);
  process.on('uncaughtException', onError);
  guardExit(onError);
}

/** A call of `process.exit` must not return, because the plugin's code does not expect to continue. */
function guardExit(onError: (error: Error) => void): void {
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    const owner = owners.getStore();
    // An argument, even `undefined`, would override process.exitCode.
    if (owner === undefined) return code === undefined ? exit() : exit(code);
    const error = new ConnectError(
      `process.exit(${code === undefined ? '' : String(code)}) was called by ${owner.name}; it does not end the worker`,
    );
    onError(error);
    throw error;
  };
}

/** Logs errors of unknown origin, with a limit per minute. */
class UnknownErrors {
  readonly #logger: Logger;
  #since = 0;
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(error: Error): void {
    const now = performance.now();
    if (this.#since === 0 || now - this.#since > MINUTE_MS) {
      if (this.#count > MAX_LOGGED_A_MINUTE) {
        this.#logger.error(
          `${String(this.#count - MAX_LOGGED_A_MINUTE)} more unhandled errors whose origin is not known`,
        );
      }
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count > MAX_LOGGED_A_MINUTE) return;
    this.#logger.error({ err: error }, 'Unhandled error; it is not known which task or connector it came from');
  }
}
