import type pg from 'pg';

/** The part of the driver's connection that a query may use. */
interface WireConnection {
  query(text: string): void;
  readonly stream: { write(bytes: Buffer): boolean };
}

/**
 * Sends statements that end with one or more COPYs, together with the data of the COPYs, without waiting for the
 * responses in between. After an error, the server skips the data (PostgreSQL documentation, "Message Flow", COPY
 * operations). The driver calls the methods of this class by name (`pg.Submittable` and pg/lib/client.js).
 */
class CopyIn {
  readonly #text: string;
  readonly #messages: Buffer;
  readonly #settle: (error: Error | undefined) => void;

  constructor(text: string, messages: Buffer, settle: (error: Error | undefined) => void) {
    this.#text = text;
    this.#messages = messages;
    this.#settle = settle;
  }

  submit(connection: unknown): void {
    const wire = connection as WireConnection;
    wire.query(this.#text);
    wire.stream.write(this.#messages);
  }

  handleError(error: Error): void {
    this.#settle(error);
  }

  handleReadyForQuery(): void {
    this.#settle(undefined);
  }

  /** The data has already been sent. */
  readonly handleCopyInResponse = nothing;
  readonly handleRowDescription = nothing;
  readonly handleDataRow = nothing;
  readonly handleCommandComplete = nothing;
}

function nothing(): void {
  return;
}

/** Resolves once the rows are stored; rejects with the driver's error. */
export function copyIn(client: pg.Client, text: string, messages: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(
      new CopyIn(text, messages, (error) => {
        if (error === undefined) resolve();
        else reject(error);
      }),
    );
  });
}
