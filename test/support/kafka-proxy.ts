import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const PRODUCE = 0;

/** A request as a filter sees it; `body` begins after the header. */
export interface SeenRequest {
  readonly apiKey: number;
  readonly correlationId: number;
}

/**
 * A proxy in front of one broker that knows Kafka's frames: clients that start at its port stay with it, as it puts that port
 * in place of the broker's into what the broker tells of itself. Answers to Produce can be held back.
 */
export class KafkaProxy {
  readonly bootstrapServers: string;
  /** Requests by api key, in order. */
  readonly seen: SeenRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #advertised: { readonly from: Buffer; readonly to: Buffer };
  #swallowing: (() => void) | undefined;
  #silent = false;

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

  /** Answers to Produce are dropped from now on; resolves when the broker has given the first, and has so stored its records. */
  swallowAcknowledgements(): Promise<void> {
    return new Promise((resolve) => {
      this.#swallowing = resolve;
    });
  }

  /** Passes acknowledgements on again; with `cut`, connections are reset first, so that clients find out. */
  pass(): void {
    this.#swallowing = undefined;
    this.#silent = false;
  }

  /** Connections stay open, and nothing comes through any more: as a cut cable. `pass` and `cut` bring it back. */
  silence(): void {
    this.#silent = true;
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
    const produce = new Set<number>();
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
        if (request.apiKey === PRODUCE) produce.add(request.correlationId);
        upstream.write(frame);
      }),
    );
    upstream.on(
      'data',
      frames((frame) => {
        if (this.#silent) return;
        if (this.#swallowing !== undefined && produce.has(frame.readInt32BE(4))) this.#swallowing();
        else client.write(this.#readdressed(frame));
      }),
    );
  }

  #readdressed(frame: Buffer): Buffer {
    const { from, to } = this.#advertised;
    for (let at = frame.indexOf(from); at >= 0; at = frame.indexOf(from, at + 1)) to.copy(frame, at);
    return frame;
  }
}

/** Host and port as they stand in Metadata and FindCoordinator answers. */
function address(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(2 + host.length + 4);
  bytes.writeInt16BE(host.length, 0);
  bytes.write(host, 2);
  bytes.writeInt32BE(port, 2 + host.length);
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
