import { PassThrough } from 'node:stream';
import { addressGroup, plainAddress } from '../../config/client-address.ts';
import { RequestError } from '../../errors.ts';
import type { RequestState } from '../../rest/cross-origin.ts';
import type { Context } from '../../rest/resource.ts';

/** Server-sent events to one browser. */
export interface EventStream {
  /** Sends an event. A client with more than `maxUnreadBytes` of unread events is disconnected. */
  readonly write: (event: Buffer) => void;
  readonly isClosed: () => boolean;
}

/**
 * Limits the number of open streams of one kind. Each client address and each user may have at most half of this
 * number.
 */
export class EventStreams {
  readonly #what: string;
  readonly #limit: number;
  readonly #maxUnreadBytes: number;
  #open = 0;
  readonly #openByClient = new Map<string, number>();

  /** `what`: the name of the streams in messages; `maxUnreadBytes`: the limit of a client. */
  constructor(what: string, limit: number, maxUnreadBytes: number) {
    this.#what = what;
    this.#limit = limit;
    this.#maxUnreadBytes = maxUnreadBytes;
  }

  /**
   * Answers with server-sent events until the browser disconnects, then calls `closed` once.
   * @throws RequestError 503: too many streams are open
   */
  answer(context: Context, closed: () => void): EventStream {
    const clients = clientsOf(context);
    this.#requireRoom(clients);
    this.#count(clients, 1);
    const body = new PassThrough();
    body.once('close', () => {
      this.#count(clients, -1);
      closed();
    });
    context.req.once('close', () => body.destroy());
    context.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    context.status = 200;
    body.write('retry: 2000\n\n');
    context.body = body;
    return {
      write: (event) => {
        if (body.destroyed) return;
        if (body.readableLength + body.writableLength > this.#maxUnreadBytes) body.destroy();
        else body.write(event);
      },
      isClosed: () => body.destroyed,
    };
  }

  #requireRoom(clients: readonly string[]): void {
    if (this.#open >= this.#limit)
      throw new RequestError(503, `This worker has ${String(this.#limit)} ${this.#what} open, and accepts no more`);
    const limit = Math.ceil(this.#limit / 2);
    const client = clients.find((each) => (this.#openByClient.get(each) ?? 0) >= limit);
    if (client !== undefined)
      throw new RequestError(
        503,
        `This worker has ${String(limit)} ${this.#what} open for ${client}, and accepts no more`,
      );
  }

  #count(clients: readonly string[], by: 1 | -1): void {
    this.#open += by;
    for (const client of clients) {
      const open = (this.#openByClient.get(client) ?? 0) + by;
      if (open === 0) this.#openByClient.delete(client);
      else this.#openByClient.set(client, open);
    }
  }
}

/** The keys by which the streams of a client are counted: its address (for IPv6, its network), and its user if known. */
function clientsOf({ req, state }: Context): readonly string[] {
  const { user }: RequestState = state;
  const address = `address ${addressGroup(plainAddress(req.socket.remoteAddress ?? 'unknown'))}`;
  return user === undefined ? [address] : [address, `user ${user}`];
}

/**
 * An event with its data as JSON. It is a Buffer, so that several streams share it until their clients have read it.
 */
export function eventBytes(event: string, data: unknown): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
