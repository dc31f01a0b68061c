import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectError } from '../errors.ts';

export interface ServiceCommand {
  /** Name in error messages. */
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Working folder of the service; absent: that of this process. */
  readonly cwd?: string | undefined;
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  /** Standard output and standard error are appended to this file. */
  readonly logFile: string;
  /** Signals that stop the process, sent one after the other until it has ended. The last one should be SIGKILL. */
  readonly stopSignals: readonly NodeJS.Signals[];
  /** A command that cleans up if this process dies without stopping the service. */
  readonly whenOrphaned?: readonly string[] | undefined;
}

// The watchdog reads from a pipe whose other end is open in this process. If this process is killed, the pipe is
// closed, and the watchdog stops the service.
const watchdogScript = `
read -r _
pid=$1 signals=$2; shift 2
for signal in $signals; do
  kill -s "$signal" "$pid" 2>/dev/null || break
  for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2>/dev/null || break; sleep 0.2; done
done
"$@"
`;

/**
 * A process that runs a service. It has its own session: Ctrl-C on the terminal reaches only the Node.js process, which
 * then stops the services in order. If the Node.js process is killed with SIGKILL, a watchdog stops the service.
 *
 * running --(exits on its own, stop, kill, this process dies)--> exited
 */
export class ServiceProcess {
  readonly pid: number;
  /** Resolves with the exit code or signal when the process has ended. */
  readonly exited: Promise<string>;
  readonly #command: ServiceCommand;
  readonly #child: ChildProcess;
  #ending: string | undefined;

  private constructor(command: ServiceCommand, child: ChildProcess, pid: number) {
    this.#command = command;
    this.#child = child;
    this.pid = pid;
    const watchdog = startWatchdog(command, pid);
    this.exited = once(child, 'exit').then(([code, signal]: unknown[]) => {
      this.#ending = typeof code === 'number' ? `exit code ${String(code)}` : `signal ${String(signal)}`;
      watchdog.kill('SIGKILL');
      return this.#ending;
    });
  }

  /** Rejects if the program cannot be started; its output is in the log file. */
  static async spawn(command: ServiceCommand): Promise<ServiceProcess> {
    mkdirSync(dirname(command.logFile), { recursive: true });
    const log = openSync(command.logFile, 'a');
    try {
      const child = spawn(command.command, command.args, {
        stdio: ['ignore', log, log],
        detached: true,
        env: command.environment ?? process.env,
        ...(command.cwd !== undefined && { cwd: command.cwd }),
        ...command.account,
      });
      await once(child, 'spawn');
      if (child.pid === undefined) throw new ConnectError(`${command.title} has no process id`);
      return new ServiceProcess(command, child, child.pid);
    } catch (error) {
      throw new ConnectError(`${command.title} cannot be started with ${command.command}`, { cause: error });
    } finally {
      closeSync(log);
    }
  }

  get running(): boolean {
    return this.#ending === undefined;
  }

  /** Sends the stop signals, each with `graceMs` to take effect; resolves when the process is gone. */
  async stop(graceMs = 2000): Promise<void> {
    for (const signal of this.#command.stopSignals) {
      if (!this.running) return;
      this.#child.kill(signal);
      await this.#exitedWithin(graceMs);
    }
    await this.exited;
  }

  async kill(): Promise<void> {
    if (this.running) this.#child.kill('SIGKILL');
    await this.exited;
  }

  /**
   * Polls `ready` until it is true. Rejects with the end of the log if the process ends first or the timeout expires,
   * and with the reason of `signal` if that aborts. The process does not run any more then.
   */
  async untilReady(ready: () => Promise<boolean>, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (this.running && !(await ready())) {
      if (signal?.aborted === true || Date.now() > deadline) {
        await this.kill();
        signal?.throwIfAborted();
        throw await this.#failure(`was not ready within ${String(timeoutMs)} ms`);
      }
      await this.#exitedWithin(20);
    }
    if (!this.running) throw await this.#failure(`ended while starting (${await this.exited})`);
  }

  async #exitedWithin(ms: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.exited, delay(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }

  async #failure(what: string): Promise<ConnectError> {
    const { title, logFile } = this.#command;
    return new ConnectError(`${title} ${what}; the end of ${logFile}:\n${await logTail(logFile)}`);
  }
}

/** The last 20 lines of a log file, or the reason why it cannot be read. */
export async function logTail(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch((error: unknown) => String(error));
  return text.trimEnd().split('\n').slice(-20).join('\n');
}

function startWatchdog(command: ServiceCommand, pid: number): ChildProcess {
  const signals = command.stopSignals.map((signal) => signal.replace(/^SIG/, '')).join(' ');
  const args = ['-c', watchdogScript, 'watchdog', String(pid), signals, ...(command.whenOrphaned ?? [':'])];
  const watchdog = spawn('/bin/sh', args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: command.environment ?? process.env,
  });
  watchdog.on('error', () => {
    // Without a shell, there is no watchdog, and the service survives a SIGKILL of this process.
  });
  watchdog.unref();
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
  return watchdog;
}
