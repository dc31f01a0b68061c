import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const PRODUCE = 0;

/** A request as a filter sees it; `body` begins after the header. */
export interface SeenRequest {
  readonly apiKey: number;
  readonly correlationId: number;
}

/**
 * A proxy in front of one broker that knows Kafka's frames: clients that start at its port stay with it, since it
 * replaces the broker's port by its own in responses with metadata. Answers of one kind can be held back.
 */
export class KafkaProxy {
  readonly bootstrapServers: string;
  /** Requests by api key, in order. */
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

  /** Answers to Produce, or to another request, are dropped from now on; resolves when the broker has given the first, and has so done it. */
  swallowAcknowledgements(apiKey = PRODUCE): Promise<void> {
    return new Promise((swallowed) => {
      this.#swallowing = { apiKey, swallowed };
    });
  }

  /**
   * Answers go through `change` from now on: a frame with its length and correlation id, and the api key of its request. What it
   * gives goes in the answer's place; `undefined`: the answer as it is.
   */
  change(change: (answer: Buffer, apiKey: number) => Buffer | undefined): void {
    this.#change = change;
  }

  /** Passes acknowledgements on again; with `cut`, connections are reset first, so that clients find out. */
  pass(): void {
    this.#swallowing = undefined;
    this.#silent = false;
    this.#change = undefined;
  }

  /** Connections stay open, and nothing comes through any more: as a cut cable. `pass` and `cut` bring it back. */
  silence(): void {
    this.#silent = true;
  }

  /**
   * The broker seems not to know a topic, for the next `times` requests of each API key: they ask it for another,
   * which does not exist, and its answers have the right name again.
   */
  hideTopic(name: string, times: Readonly<Record<number, number>>): void {
    const decoy = `-${name.slice(1)}`;
    const counts = new Map(Object.entries(times).map(([apiKey, count]) => [Number(apiKey), count]));
    this.#hidden = { name: Buffer.from(name), decoy: Buffer.from(decoy), times: counts };
  }

  /** How many requests are still to be met in vain. */
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

/** In place, by what is as long. True when something was replaced. */
function replaceAll(frame: Buffer, from: Buffer, to: Buffer): boolean {
  let found = false;
  for (let at = frame.indexOf(from); at >= 0; at = frame.indexOf(from, at + 1)) {
    to.copy(frame, at);
    found = true;
  }
  return found;
}

/** Host and port as they stand, behind a length in one form or another, in Metadata and FindCoordinator answers. */
function address(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(host.length + 4);
  bytes.write(host, 0);
  bytes.writeInt32BE(port, host.length);
  return bytes;
}

/** Whole frames, their length field included. */
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
