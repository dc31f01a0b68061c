import { DatabaseError, type ReplicationConnection } from '../database/index.ts';

export interface LogChunk {
  readonly lsn: bigint;
  readonly message: Buffer;
}

export interface StreamLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** A change of this size cannot become a record of a topic. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
/** Bytes of memory that a queued message takes beside its content. */
const OVERHEAD_BYTES = 200;
/** Without a byte for this long, the server is asked to reply; without one for as long again, the connection counts as lost. */
const SILENCE_MS = 30_000;

interface StreamOptions {
  readonly limits: StreamLimits;
  readonly statusIntervalMs: number;
  readonly silenceMs?: number;
}

/**
 * Reads the log of a slot ahead, up to a limit of messages and bytes. Beyond it the connection is not read, so that the server keeps
 * the rest; the position is reported meanwhile, so that the server does not close the connection.
 *
 * A network that drops packets leaves the connection open on this side. The server is therefore asked to reply when it is silent.
 */
export class LogStream {
  readonly #connection: ReplicationConnection;
  readonly #limits: StreamLimits;
  #queue: LogChunk[] = [];
  /** Chunks at the front of the queue that were taken. */
  #taken = 0;
  #bytes = 0;
  #isPaused = false;
  #failure: DatabaseError | undefined;
  #wake: (() => void) | undefined;
  #received = 0n;
  /** 0 leaves the slot as it is. The start of the stream is not confirmed, because records before it may not be stored yet. */
  #confirmed = 0n;
  /** Everything before this place is in the queue, or was taken. */
  #sentUpTo = 0n;
  #silence = { since: performance.now(), bytesRead: 0 };
  #timers: NodeJS.Timeout[] = [];

  private constructor(connection: ReplicationConnection, limits: StreamLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /** The connection is closed with the stream. @throws DatabaseError, 55006 while another process reads the slot */
  static async open(
    connection: ReplicationConnection,
    command: string,
    { limits, statusIntervalMs, silenceMs = SILENCE_MS }: StreamOptions,
    signal: AbortSignal,
  ): Promise<LogStream> {
    const stream = new LogStream(connection, limits);
    const receiver = {
      data: (lsn: bigint, walEnd: bigint, message: Buffer) => stream.#add(lsn, walEnd, message),
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

  /** The next message; `undefined` if none is queued. @throws DatabaseError when the stream has ended and the queue is empty */
  take(): LogChunk | undefined {
    const chunk = this.#queue[this.#taken];
    if (chunk === undefined) {
      if (this.#failure !== undefined) throw this.#failure;
      return undefined;
    }
    this.#taken += 1;
    if (this.#taken * 2 > this.#queue.length) {
      // Fewer chunks are moved than were taken, so that the cost per chunk is constant.
      this.#queue = this.#queue.slice(this.#taken);
      this.#taken = 0;
    }
    this.#bytes -= chunk.message.length + OVERHEAD_BYTES;
    if (this.#isPaused && this.#length < this.#limits.messages / 2 && this.#bytes < this.#limits.bytes / 2) {
      this.#isPaused = false;
      this.#connection.resume();
    }
    return chunk;
  }

  get hasMessages(): boolean {
    return this.#length > 0;
  }

  get #length(): number {
    return this.#queue.length - this.#taken;
  }

  get queued(): StreamLimits {
    return { messages: this.#length, bytes: this.#bytes };
  }

  /** Everything before this place was taken; 0: not known. */
  get takenUpTo(): bigint {
    return this.hasMessages ? 0n : this.#sentUpTo;
  }

  /** Resolves when a message is queued, the stream has ended, the signal is aborted, or after the time. */
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

  /** The server may forget everything before `lsn`. */
  confirm(lsn: bigint): void {
    if (lsn <= this.#confirmed) return;
    this.#confirmed = lsn;
    this.#report();
  }

  close(): void {
    this.#stopTimers();
    this.#connection.close();
    this.#queue = [];
    this.#taken = 0;
    this.#wake?.();
  }

  #add(lsn: bigint, walEnd: bigint, message: Buffer): void {
    this.#queue.push({ lsn, message });
    this.#bytes += message.length + OVERHEAD_BYTES;
    if (walEnd > this.#received) this.#received = walEnd;
    if (!this.#isPaused && (this.#length >= this.#limits.messages || this.#bytes >= this.#limits.bytes)) {
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
