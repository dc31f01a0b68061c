import { FrameReader } from './frame-reader.ts';
import {
  Connection,
  Encoder,
  type ConnectionParameters,
  type LibraryCall,
  type RequestQueue,
} from '../library/kafkajs-internals.ts';
import { toError } from '../../errors.ts';
import { AnswerReader } from '../protocol/answer-reader.ts';

/**
 * The library's connection with a reader of answers of its own: the library's copies an answer twice and keeps every piece
 * that the socket read, 0.2 µs of 3 µs for a record of 400 bytes. Bodies in pieces go out as they are: the library's encoders copy a
 * body three times into memory that is cleared before, as much as a source task does besides. Answers to authentication are read
 * here too, as the library's decoder believes each length: a negative one moves it back, so that it reads the same bytes again for each
 * of up to 2^31 entries of a list.
 */
export class FramedConnection extends Connection {
  readonly #frames = new FrameReader((frame) => {
    const correlationId = frame.readInt32BE(0);
    this.#requireOldest(correlationId);
    this.requestQueue.fulfillRequest({ size: frame.length, correlationId, payload: frame.subarray(4) });
  });

  constructor(parameters: ConnectionParameters) {
    super(parameters);
    checkWhenNeeded(this.requestQueue);
  }

  /** As the library's. */
  override async send<A>(call: LibraryCall<A>): Promise<A> {
    const { request, response, requestTimeout = null } = call;
    const { pieces } = request;
    if (pieces === undefined) {
      const decode = AUTHENTICATION[request.apiName] as LibraryCall<A>['response']['decode'] | undefined;
      return super.send(decode === undefined ? call : { ...call, response: { ...response, decode } });
    }
    if (!this.isAuthenticated()) await this.authenticate();
    const expectResponse = request.expectResponse?.() ?? true;
    const { payload } = await new Promise<{ readonly payload: Buffer }>((resolve, reject) => {
      this.failIfNotConnected();
      const { apiKey, apiName, apiVersion } = request;
      const correlationId = this.nextCorrelationId();
      this.requestQueue.push({
        entry: { apiKey, apiName, apiVersion, correlationId, resolve, reject },
        expectResponse,
        requestTimeout,
        sendRequest: () => {
          this.socket.cork();
          this.socket.write(headOf(request, correlationId, this.clientId, pieces));
          for (const piece of pieces) this.socket.write(piece);
          this.socket.uncork();
        },
      });
    });
    if (!expectResponse) return undefined as A;
    const answer = await response.decode(payload);
    this.requestQueue.maybeThrottle((answer as { clientSideThrottleTime?: number }).clientSideThrottleTime);
    return response.parse(answer);
  }

  /** Called for all that is read; the bytes may be overwritten afterwards. */
  override processData(bytes: Buffer): void {
    // A socket that was given up may have been read already.
    if (this.socket.destroyed) return;
    try {
      this.#frames.push(bytes);
    } catch (error) {
      this.socket.destroy(toError(error));
    }
  }

  /** Brokers answer in the order of the requests; what comes for another one was damaged on its way. */
  #requireOldest(correlationId: number): void {
    const [oldest] = this.requestQueue.inflight;
    if (oldest?.[0] === correlationId) return;
    const due =
      oldest === undefined ? 'none was due' : `that of ${String(oldest[0])} (${oldest[1].entry.apiName}) was due`;
    throw new Error(`The answer with correlation id ${String(correlationId)} came when ${due}`);
  }
}

/** Decoders of the requests that the library makes itself. */
const AUTHENTICATION: Readonly<Record<string, (payload: Buffer) => unknown>> = {
  SaslHandshake: (payload) => {
    const reader = new AnswerReader(payload, 'SaslHandshake');
    return { errorCode: reader.int16(), enabledMechanisms: reader.list(() => reader.string()) };
  },
  SaslAuthenticate: (payload) => {
    const reader = new AnswerReader(payload, 'SaslAuthenticate');
    const errorCode = reader.int16();
    const errorMessage = reader.stringOrNull();
    // The library's mechanisms expect the length in front.
    const authBytes = new Encoder().writeBytes(reader.nullableBytes() ?? null).buffer;
    // Version 0 has no lifetime.
    return { errorCode, errorMessage, authBytes, sessionLifetimeMs: reader.hasMore ? String(reader.int64()) : '0' };
  },
};

/**
 * kafkajs 2.2.4 keeps a timer of 1 ms running per idle connection (its issues 1556, 1704, 1751): `throttledUntil - now`
 * is negative when nothing is throttled, and the timer's own callback starts the next one. For one consumer and one
 * producer that was 5,500 callbacks a second and 3 % of a core; Node 24 also warns about the negative timeout. The check
 * is needed only while a request waits or the broker throttles us.
 */
function checkWhenNeeded(queue: RequestQueue): void {
  const schedule = queue.scheduleCheckPendingRequests.bind(queue);
  queue.scheduleCheckPendingRequests = () => {
    if (queue.pending.length > 0 || queue.throttledUntil > Date.now()) schedule();
  };
}

/** The length of the request, and its header. */
function headOf(
  { apiKey, apiVersion }: LibraryCall<unknown>['request'],
  correlationId: number,
  clientId: string,
  pieces: readonly Buffer[],
): Buffer {
  const header = new Encoder()
    .writeInt16(apiKey)
    .writeInt16(apiVersion)
    .writeInt32(correlationId)
    .writeString(clientId);
  const size = pieces.reduce((sum, { length }) => sum + length, header.buffer.length);
  return new Encoder().writeInt32(size).writeBuffer(header.buffer).buffer;
}
