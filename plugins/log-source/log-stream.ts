import { DatabaseError, type ReceivedMessages, type ReplicationConnection } from '../database/index.ts';
import { MessageQueue, type LogChunk } from './message-queue.ts';

export interface StreamLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** Maximum size of a message. A larger change could not become a record of a topic. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
/** After this time without data, the server is asked to reply. After twice this time, the connection counts as lost. */
const SILENCE_MS = 30_000;

interface StreamOptions {
  readonly limits: StreamLimits;
  readonly statusIntervalMs: number;
  readonly silenceMs?: number;
}

/**
 * Reads the log of a slot ahead into a queue, up to a limit of messages and bytes. When the limit is reached, it stops reading from the
 * connection, so the server keeps the rest. It still reports the position, so that the server does not close the connection.
 *
 * If the network drops packets, the connection stays open on this side. Therefore, a silent server is asked to reply.
 */
export class LogStream {
  readonly #connection: ReplicationConnection;
  readonly #limits: StreamLimits;
  readonly #queue = new MessageQueue();
  #isPaused = false;
  #failure: DatabaseError | undefined;
  #wake: (() => void) | undefined;
  #received = 0n;
  /**
   * Confirmed LSN. It is 0 at first, because records before the start of the stream may not be stored yet. Confirming 0
   * does not move the slot.
   */
  #confirmed = 0n;
  /** All messages before this LSN are in the queue or were taken from it. */
  #sentUpTo = 0n;
  #silence = { since: performance.now(), bytesRead: 0 };
  #timers: NodeJS.Timeout[] = [];

  private constructor(connection: ReplicationConnection, limits: StreamLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /** Starts a stream, which closes the connection when it ends. @throws DatabaseError; SQLSTATE 55006 if another process reads the slot */
  static async open(
    connection: ReplicationConnection,
    command: string,
    { limits, statusIntervalMs, silenceMs = SILENCE_MS }: StreamOptions,
    signal: AbortSignal,
  ): Promise<LogStream> {
    const stream = new LogStream(connection, limits);
    const receiver = {
      data: (messages: ReceivedMessages) => stream.#add(messages),
      keepalive: (walEnd: bigint, replyRequested: boolean) => stream.#keepalive(walEnd, replyRequested),
      ended: (error: DatabaseError) => stream.#fail(error),
    };
    const close = (): void => connection.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      await connection.start(command, receiver, MAX_MESSAGE_BYTES);
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', close);
    }
    stream.#timers = [
      setInterval(() => stream.#report(), statusIntervalMs),
      setInterval(() => stream.#watch(silenceMs), silenceMs / 3),
    ];
    return stream;
  }

  /** Takes the next message; `undefined` if the queue is empty. @throws DatabaseError if the queue is empty and the stream has ended */
  take(): LogChunk | undefined {
    const chunk = this.#queue.take();
    if (chunk === undefined) {
      if (this.#failure !== undefined) throw this.#failure;
      return undefined;
    }
    const { length, bytes } = this.#queue;
    if (this.#isPaused && length < this.#limits.messages / 2 && bytes < this.#limits.bytes / 2) {
      this.#isPaused = false;
      this.#connection.resume();
    }
    return chunk;
  }

  get hasMessages(): boolean {
    return this.#queue.length > 0;
  }

  get queued(): StreamLimits {
    return { messages: this.#queue.length, bytes: this.#queue.bytes };
  }

  /** All messages before this LSN were taken; 0 while messages are queued. */
  get takenUpTo(): bigint {
    return this.hasMessages ? 0n : this.#sentUpTo;
  }

  /** Resolves when a message is queued, the stream has ended, the signal is aborted, or the time is over. */
  async arrival(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.hasMessages || this.#failure !== undefined || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', this.#wake, { once: true });
    });
    if (this.#wake !== undefined) signal.removeEventListener('abort', this.#wake);
    this.#wake = undefined;
  }

  /** Tells the server that it may remove the log before `lsn`. */
  confirm(lsn: bigint): void {
    if (lsn <= this.#confirmed) return;
    this.#confirmed = lsn;
    this.#report();
  }

  close(): void {
    this.#stopTimers();
    this.#connection.close();
    this.#queue.clear();
    this.#wake?.();
  }

  #add(messages: ReceivedMessages): void {
    this.#queue.add(messages);
    const walEnd = messages.walEnd(messages.length - 1);
    if (walEnd > this.#received) this.#received = walEnd;
    const { length, bytes } = this.#queue;
    if (!this.#isPaused && (length >= this.#limits.messages || bytes >= this.#limits.bytes)) {
      this.#isPaused = true;
      this.#connection.pause();
    }
    this.#wake?.();
  }

  #keepalive(walEnd: bigint, replyRequested: boolean): void {
    if (walEnd > this.#received) this.#received = walEnd;
    if (walEnd > this.#sentUpTo) this.#sentUpTo = walEnd;
    if (replyRequested) this.#report();
  }

  #report(isReplyRequested = false): void {
    this.#connection.confirm(this.#received, this.#confirmed, isReplyRequested);
  }

  #watch(silenceMs: number): void {
    const { bytesRead } = this.#connection;
    const now = performance.now();
    if (this.#isPaused || bytesRead !== this.#silence.bytesRead) {
      this.#silence = { since: now, bytesRead };
      return;
    }
    const silentMs = now - this.#silence.since;
    if (silentMs < silenceMs) return;
    if (silentMs < 2 * silenceMs) {
      this.#report(true);
      return;
    }
    const message = `no data from the server for ${String(Math.round(silentMs / 1000))} s, although it was asked to reply`;
    this.#fail(new DatabaseError(message, { scope: 'infrastructure' }));
    this.#connection.close();
  }

  #fail(error: DatabaseError): void {
    this.#stopTimers();
    this.#failure ??= error;
    this.#wake?.();
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
