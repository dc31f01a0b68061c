import { FrameReader } from './frame-reader.ts';
import { Connection } from './kafkajs-internals.ts';
import { toError } from '../../errors.ts';

/**
 * The library's connection with a reader of answers of its own: the library's copies an answer twice and keeps every piece
 * that the socket read, 0.2 µs of 3 µs for a record of 400 bytes.
 */
export class FramedConnection extends Connection {
  readonly #frames = new FrameReader((frame) => {
    const correlationId = frame.readInt32BE(0);
    this.#requireOldest(correlationId);
    this.requestQueue.fulfillRequest({ size: frame.length, correlationId, payload: frame.subarray(4) });
  });

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
