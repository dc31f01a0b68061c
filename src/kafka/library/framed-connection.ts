import { FrameReader } from './frame-reader.ts';
import { Connection } from './kafkajs-internals.ts';
import { toError } from '../../errors.ts';

/**
 * The library's connection with a reader of answers of its own: the library's copies an answer twice and keeps every piece
 * that the socket read, 0.2 µs of 3 µs for a record of 400 bytes.
 */
export class FramedConnection extends Connection {
  readonly #frames = new FrameReader((frame) => {
    this.requestQueue.fulfillRequest({
      size: frame.length,
      correlationId: frame.readInt32BE(0),
      payload: frame.subarray(4),
    });
  });

  /** Called for all that is read; the bytes may be overwritten afterwards. */
  override processData(bytes: Buffer): void {
    // Before SaslAuthenticate (Kafka 1.0) answers to authentication had no frame that the library would tell apart.
    if (this.authHandlers !== null) {
      super.processData(Buffer.from(bytes));
      return;
    }
    try {
      this.#frames.push(bytes);
    } catch (error) {
      this.socket.destroy(toError(error));
    }
  }
}
