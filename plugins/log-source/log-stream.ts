import { ReplicationConnection, type ConnectionSettings, type DatabaseError } from '../database/index.ts';

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

/**
 * Reads the log of a slot ahead, up to a limit of messages and bytes. Beyond it the connection is not read, so that the server keeps
 * the rest; the position is reported meanwhile, so that the server does not give the connection up.
 */
export class LogStream {
  readonly #connection: ReplicationConnection;
  readonly #limits: StreamLimits;
  #queue: LogChunk[] = [];
  #bytes = 0;
  #isPaused = false;
  #failure: DatabaseError | undefined;
  #wake: (() => void) | undefined;
  #received = 0n;
  #confirmed: bigint;
  #timer: NodeJS.Timeout | undefined;

  private constructor(connection: ReplicationConnection, limits: StreamLimits, start: bigint) {
    this.#connection = connection;
    this.#limits = limits;
    this.#confirmed = start;
  }

  /** @throws DatabaseError, 55006 while another process reads the slot */
  static async open(
    settings: ConnectionSettings,
    command: string,
    { limits, start, statusIntervalMs }: { limits: StreamLimits; start: bigint; statusIntervalMs: number },
    signal: AbortSignal,
  ): Promise<LogStream> {
    const connection = await ReplicationConnection.open(settings, signal);
    const stream = new LogStream(connection, limits, start);
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
    stream.#timer = setInterval(() => stream.#report(), statusIntervalMs);
    return stream;
  }

  /** The next message; `undefined` if none is queued. @throws DatabaseError when the stream has ended and the queue is empty */
  take(): LogChunk | undefined {
    const chunk = this.#queue.shift();
    if (chunk === undefined) {
      if (this.#failure !== undefined) throw this.#failure;
      return undefined;
    }
    this.#bytes -= chunk.message.length + OVERHEAD_BYTES;
    if (this.#isPaused && this.#queue.length < this.#limits.messages / 2 && this.#bytes < this.#limits.bytes / 2) {
      this.#isPaused = false;
      this.#connection.resume();
    }
    return chunk;
  }

  get hasMessages(): boolean {
    return this.#queue.length > 0;
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
    clearInterval(this.#timer);
    this.#connection.close();
    this.#queue = [];
    this.#wake?.();
  }

  #add(lsn: bigint, walEnd: bigint, message: Buffer): void {
    this.#queue.push({ lsn, message });
    this.#bytes += message.length + OVERHEAD_BYTES;
    if (walEnd > this.#received) this.#received = walEnd;
    if (!this.#isPaused && (this.#queue.length >= this.#limits.messages || this.#bytes >= this.#limits.bytes)) {
      this.#isPaused = true;
      this.#connection.pause();
    }
    this.#wake?.();
  }

  #keepalive(walEnd: bigint, replyRequested: boolean): void {
    if (walEnd > this.#received) this.#received = walEnd;
    if (replyRequested) this.#report();
  }

  #report(): void {
    this.#connection.confirm(this.#received, this.#confirmed);
  }

  #fail(error: DatabaseError): void {
    clearInterval(this.#timer);
    this.#failure ??= error;
    this.#wake?.();
  }
}
