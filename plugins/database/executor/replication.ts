import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import { DatabaseError } from '../../../src/errors.ts';
import type { QueryResult } from './api.ts';
import { connectReplication } from './connect.ts';
import { toQueryResult, TEXT_VALUES } from './connection.ts';
import type { ConnectionSettings } from './connection-url.ts';
import { toDatabaseError } from './sqlstate.ts';

const COPY_DATA = 0x64;
const COPY_BOTH_RESPONSE = 0x57;
const XLOG_DATA = 0x77;
const KEEPALIVE = 0x6b;
/** Size of a message header: the type byte and the length, which includes itself. */
const HEAD_BYTES = 5;
/** Size of the head of an XLogData message: type, start of the WAL data, current end of the WAL, time. */
const XLOG_DATA_HEAD = 25;
const KEEPALIVE_BYTES = 18;
const STATUS_BYTES = 34;
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);
/** Start of PostgreSQL's clock, 2000-01-01, in microseconds since 1970. */
const POSTGRES_EPOCH_MICROS = 946_684_800_000_000n;

/** Members of the driver's connection that its types omit. */
const DriverConnection = pg.Connection as unknown as new (options: object) => EventEmitter & {
  readonly stream: Socket;
  attachListeners(stream: EventEmitter): void;
  sendCopyFromChunk(chunk: Buffer): void;
};

/**
 * Messages of the output plugin that were received together. They stay in the buffer of the connection: objects for them
 * are created only on request, because thousands of messages may be queued.
 */
export class ReceivedMessages {
  readonly bytes: Buffer;
  readonly #view: DataView;
  /** Start and end of each XLogData message. */
  readonly #bounds: number[] = [];

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Adds the XLogData message from `start` to `end` (exclusive). */
  add(start: number, end: number): void {
    this.#bounds.push(start, end);
  }

  get length(): number {
    return this.#bounds.length / 2;
  }

  /** Number of bytes of all messages, with their heads. */
  get byteLength(): number {
    return this.length === 0 ? 0 : this.end(this.length - 1) - this.#head(0);
  }

  /** Returns the position of the change in the WAL. */
  lsn(index: number): bigint {
    return this.#view.getBigUint64(this.#head(index) + 1);
  }

  /** Returns the end of the server's WAL when it sent the message. */
  walEnd(index: number): bigint {
    return this.#view.getBigUint64(this.#head(index) + 9);
  }

  /** Returns the index in `bytes` at which the message of the output plugin begins. */
  start(index: number): number {
    return this.#head(index) + XLOG_DATA_HEAD;
  }

  /** Returns the index in `bytes` after the message. */
  end(index: number): number {
    return this.#bounds[2 * index + 1] ?? 0;
  }

  #head(index: number): number {
    return this.#bounds[2 * index] ?? 0;
  }
}

/** Receives the messages of the stream, and may keep their buffers. */
export interface ReplicationReceiver {
  data(messages: ReceivedMessages): void;
  /** Called when everything before `walEnd` has been sent. */
  keepalive(walEnd: bigint, replyRequested: boolean): void;
  /** Called once, when the stream has ended; not called after `close`. */
  ended(error: DatabaseError): void;
}

/** Receives the contents of messages: `bounds` has the start and the end of each one in `bytes`. */
type ReceiveContents = (bytes: Buffer, bounds: readonly number[]) => void;

/**
 * The driver's connection for the streaming replication protocol. The driver parses all messages until the server
 * switches to CopyBoth mode. Afterwards, this class parses the CopyData messages: the receiver may keep their buffers,
 * whereas the driver reuses the memory of its messages.
 */
export class ReplicationTap extends DriverConnection {
  readonly #driver = new EventEmitter();
  #receiver: ReceiveContents | undefined;
  #maxBytes = Infinity;
  /** Received parts of a message that is not complete yet. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #isStreaming = false;

  /**
   * Calls `receiver` with CopyData messages that were received together, after the CopyBoth response. A message of more
   * than `maxBytes` fails the connection.
   */
  receive(receiver: ReceiveContents, maxBytes: number): void {
    this.#receiver = receiver;
    this.#maxBytes = maxBytes;
  }

  /** Called by the driver with the stream to read: the TLS stream if there is one. */
  override attachListeners(stream: EventEmitter): void {
    super.attachListeners(this.#driver);
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#driver.emit('end'));
  }

  #take(chunk: Buffer): void {
    if (this.#receiver === undefined) {
      this.#driver.emit('data', chunk);
      return;
    }
    this.#pieces.push(chunk);
    this.#pieceBytes += chunk.length;
    const first = this.#head();
    if (first === undefined || this.#pieceBytes < first) return;
    const [only = chunk] = this.#pieces;
    const data = this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces);
    const bounds: number[] = [];
    let at = 0;
    while (data.length - at >= HEAD_BYTES) {
      const end = at + 1 + data.readUInt32BE(at + 1);
      if (end > data.length) break;
      if (data[at] === COPY_DATA && this.#isStreaming) bounds.push(at + HEAD_BYTES, end);
      else {
        this.#deliver(data, bounds.splice(0));
        this.#control(data, at, end);
      }
      at = end;
    }
    this.#deliver(data, bounds);
    this.#pieces = at === data.length ? [] : [data.subarray(at)];
    this.#pieceBytes = data.length - at;
    this.#head();
  }

  /**
   * Returns the size of the first message in bytes; `undefined` until its header is complete. Fails the connection if
   * the message is too large.
   */
  #head(): number | undefined {
    if (this.#pieceBytes < HEAD_BYTES) return undefined;
    let head = this.#pieces[0] ?? Buffer.alloc(0);
    if (head.length < HEAD_BYTES) {
      head = Buffer.concat(this.#pieces);
      this.#pieces = [head];
    }
    const bytes = 1 + head.readUInt32BE(1);
    if (bytes > this.#maxBytes) this.stream.destroy(tooLarge(bytes, this.#maxBytes));
    return bytes;
  }

  #deliver(data: Buffer, bounds: readonly number[]): void {
    if (bounds.length > 0) this.#receiver?.(data, bounds);
  }

  /** Passes a message that is not a part of the stream to the driver. */
  #control(data: Buffer, start: number, end: number): void {
    if (data[start] === COPY_BOTH_RESPONSE) this.#isStreaming = true;
    this.#driver.emit('data', data.subarray(start, end));
  }
}

function tooLarge(bytes: number, limit: number): DatabaseError {
  return new DatabaseError(
    `the server sent a change of ${String(bytes)} bytes; at most ${String(limit)} bytes are accepted`,
    { scope: 'record', sqlstate: '54000' },
  );
}

/**
 * A connection in the server's replication mode (`replication=database`). It runs commands such as
 * CREATE_REPLICATION_SLOT, SQL with the simple protocol, and the stream of START_REPLICATION.
 *
 * Poolers do not support such connections.
 */
export class ReplicationConnection {
  readonly #client: pg.Client;
  readonly #tap: ReplicationTap;
  #lost: DatabaseError | undefined;
  #receiver: ReplicationReceiver | undefined;

  private constructor(client: pg.Client, tap: ReplicationTap) {
    this.#client = client;
    this.#tap = tap;
    client.on('error', (error) => this.#end(toDatabaseError(error)));
    client.on('end', () => {
      this.#end(new DatabaseError('the server ended the replication connection', { scope: 'infrastructure' }));
    });
  }

  /** Rejects with a DatabaseError, as `connect` does. */
  static async open(settings: ConnectionSettings, signal?: AbortSignal): Promise<ReplicationConnection> {
    const { client, tap } = await connectReplication(settings, (options) => new ReplicationTap(options), signal);
    return new ReplicationConnection(client, tap);
  }

  /** Runs one command or statement. The values of the result are in text format. Rejects with a DatabaseError. */
  async command(text: string): Promise<QueryResult> {
    if (this.#lost !== undefined) throw this.#lost;
    try {
      const result = await this.#client.query<(string | null)[]>({ text, rowMode: 'array', types: TEXT_VALUES });
      return toQueryResult(result, result.rows);
    } catch (error) {
      throw toDatabaseError(error);
    }
  }

  /**
   * Runs START_REPLICATION. Resolves once the stream has started. Rejects with the server's error, such as 55006 if
   * another process reads the slot. No other command can run on this connection afterwards.
   * @param maxBytes limit of one message; a larger one ends the stream with 54000
   */
  async start(text: string, receiver: ReplicationReceiver, maxBytes: number): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#tap.receive((bytes, bounds) => this.#contents(bytes, bounds, receiver), maxBytes);
    const started = new Promise<void>((resolve) => {
      this.#tap.once('replicationStart', () => {
        this.#receiver = receiver;
        resolve();
      });
    });
    const ended = this.#client
      .query(text)
      .then(() => new DatabaseError('the server ended the stream', { scope: 'infrastructure' }), toDatabaseError);
    const failure = await Promise.race([started, ended]);
    if (failure !== undefined) throw failure;
    void ended.then((error) => this.#end(error));
  }

  /** Number of bytes received so far. */
  get bytesRead(): number {
    return this.#tap.stream.bytesRead;
  }

  /**
   * Sends a standby status update. The slot no longer needs the WAL before `flushed`, so the server may remove it. If
   * `flushed` is 0, the slot does not change.
   */
  confirm(received: bigint, flushed: bigint, isReplyRequested = false): void {
    if (this.#lost !== undefined) return;
    const message = Buffer.alloc(STATUS_BYTES);
    message.write('r', 0, 'latin1');
    message.writeBigUInt64BE(received, 1);
    message.writeBigUInt64BE(flushed, 9);
    message.writeBigUInt64BE(flushed, 17);
    message.writeBigInt64BE(BigInt(Date.now()) * 1000n - POSTGRES_EPOCH_MICROS, 25);
    message[33] = Number(isReplyRequested);
    this.#tap.sendCopyFromChunk(message);
  }

  /** Pauses reading, so that the server has to wait. */
  pause(): void {
    this.#tap.stream.pause();
  }

  resume(): void {
    this.#tap.stream.resume();
  }

  close(): void {
    this.#receiver = undefined;
    const { stream } = this.#tap;
    if (stream.writable) stream.write(TERMINATE);
    stream.destroySoon();
  }

  #contents(bytes: Buffer, bounds: readonly number[], receiver: ReplicationReceiver): void {
    let messages = new ReceivedMessages(bytes);
    for (let index = 0; index < bounds.length; index += 2) {
      const start = bounds[index] ?? 0;
      const end = bounds[index + 1] ?? 0;
      if (bytes[start] === XLOG_DATA && end - start >= XLOG_DATA_HEAD) messages.add(start, end);
      else if (bytes[start] === KEEPALIVE && end - start >= KEEPALIVE_BYTES) {
        if (messages.length > 0) receiver.data(messages);
        messages = new ReceivedMessages(bytes);
        receiver.keepalive(bytes.readBigUInt64BE(start + 1), bytes[start + 17] === 1);
      }
    }
    if (messages.length > 0) receiver.data(messages);
  }

  #end(error: DatabaseError): void {
    this.#lost ??= error;
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.ended(error);
  }
}
