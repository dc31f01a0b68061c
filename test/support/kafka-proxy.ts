import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const PRODUCE = 0;

/** A request as a filter receives it; `body` begins after the header. */
export interface SeenRequest {
  readonly apiKey: number;
  readonly correlationId: number;
}

/**
 * A proxy in front of one broker that parses Kafka's frames. It replaces the broker's port by its own in metadata
 * responses, so clients that connect to its port stay with it. It can hold back responses of one kind.
 */
export class KafkaProxy {
  readonly bootstrapServers: string;
  /** The requests so far, in order. */
  readonly seen: SeenRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #advertised: { readonly from: Buffer; readonly to: Buffer };
  #swallowing: { readonly apiKey: number; readonly swallowed: () => void } | undefined;
  #silent = false;
  #change: ((answer: Buffer, apiKey: number) => Buffer | undefined) | undefined;
  #hidden: { readonly name: Buffer; readonly decoy: Buffer; readonly times: Map<number, number> } | undefined;

  private constructor(server: Server, target: { readonly host: string; readonly port: number }) {
    const { port } = server.address() as AddressInfo;
    this.bootstrapServers = `127.0.0.1:${String(port)}`;
    this.#server = server;
    this.#advertised = { from: address(target.host, target.port), to: address(target.host, port) };
    server.on('connection', (client) => {
      this.#open(client, target);
    });
  }

  static async start(bootstrapServers: string): Promise<KafkaProxy> {
    const [host = '', port = ''] = bootstrapServers.split(':');
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new KafkaProxy(server, { host, port: Number(port) });
  }

  /**
   * Drops responses to Produce, or to another request, from now on. Resolves when the broker has sent the first such
   * response, that is, has processed the request.
   */
  swallowAcknowledgements(apiKey = PRODUCE): Promise<void> {
    return new Promise((swallowed) => {
      this.#swallowing = { apiKey, swallowed };
    });
  }

  /**
   * Passes responses through `change` from now on. `change` gets a frame with its length and correlation id, and the
   * API key of its request. It returns the frame to send instead, or `undefined` to send the original one.
   */
  change(change: (answer: Buffer, apiKey: number) => Buffer | undefined): void {
    this.#change = change;
  }

  /** Passes responses on again. With `cut`, connections are reset first, so that clients notice the loss. */
  pass(): void {
    this.#swallowing = undefined;
    this.#silent = false;
    this.#change = undefined;
  }

  /** Keeps connections open but passes nothing on, like a cut cable. `pass` and `cut` end this state. */
  silence(): void {
    this.#silent = true;
  }

  /**
   * Makes a topic unknown to the broker for the next `times` requests of each API key. The proxy replaces the name in
   * the requests by that of a topic that does not exist, and restores it in the responses.
   */
  hideTopic(name: string, times: Readonly<Record<number, number>>): void {
    const decoy = `-${name.slice(1)}`;
    const counts = new Map(Object.entries(times).map(([apiKey, count]) => [Number(apiKey), count]));
    this.#hidden = { name: Buffer.from(name), decoy: Buffer.from(decoy), times: counts };
  }

  /** The number of requests for which the topic is still hidden. */
  get hidings(): number {
    return [...(this.#hidden?.times.values() ?? [])].reduce((sum, count) => sum + count, 0);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #open(client: Socket, target: { readonly host: string; readonly port: number }): void {
    const upstream = connect(target);
    const apiKeys = new Map<number, number>();
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        this.#sockets.delete(one);
      });
    }
    client.on(
      'data',
      frames((frame) => {
        if (this.#silent) return;
        const request = { apiKey: frame.readInt16BE(4), correlationId: frame.readInt32BE(8) };
        this.seen.push(request);
        apiKeys.set(request.correlationId, request.apiKey);
        upstream.write(this.#disguised(frame, request.apiKey));
      }),
    );
    upstream.on(
      'data',
      frames((frame) => {
        if (this.#silent) return;
        const correlationId = frame.readInt32BE(4);
        const apiKey = apiKeys.get(correlationId) ?? -1;
        apiKeys.delete(correlationId);
        if (this.#swallowing?.apiKey === apiKey) {
          this.#swallowing.swallowed();
          return;
        }
        const answer = this.#readdressed(frame);
        client.write(this.#change?.(answer, apiKey) ?? answer);
      }),
    );
  }

  #readdressed(frame: Buffer): Buffer {
    replaceAll(frame, this.#advertised.from, this.#advertised.to);
    if (this.#hidden !== undefined) replaceAll(frame, this.#hidden.decoy, this.#hidden.name);
    return frame;
  }

  #disguised(frame: Buffer, apiKey: number): Buffer {
    const left = this.#hidden?.times.get(apiKey) ?? 0;
    if (this.#hidden !== undefined && left > 0 && replaceAll(frame, this.#hidden.name, this.#hidden.decoy)) {
      this.#hidden.times.set(apiKey, left - 1);
    }
    return frame;
  }
}

/** Replaces all occurrences in place by bytes of the same length. Returns true if something was replaced. */
function replaceAll(frame: Buffer, from: Buffer, to: Buffer): boolean {
  let found = false;
  for (let at = frame.indexOf(from); at >= 0; at = frame.indexOf(from, at + 1)) {
    to.copy(frame, at);
    found = true;
  }
  return found;
}

/** Encodes host and port, with a length in one of several forms, as in Metadata and FindCoordinator responses. */
function address(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(host.length + 4);
  bytes.write(host, 0);
  bytes.writeInt32BE(port, host.length);
  return bytes;
}

/** Splits a stream into whole frames, including their length fields. */
function frames(onFrame: (frame: Buffer) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      onFrame(Buffer.from(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
  };
}
