import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * A TCP proxy on 127.0.0.1 that can break what runs through it.
 *
 * passing --refuse--> refusing --pass--> passing;  any --stall--> stalled --pass--> passing;  any --close--> closed
 */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #cutting: { readonly text: string; readonly done: () => void } | undefined;
  #mode: 'passing' | 'refusing' | 'stalled' = 'passing';

  #target: Address;

  private constructor(server: Server, target: Address) {
    this.#server = server;
    this.#target = target;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => {
      this.#open(client);
    });
  }

  static async start(target: Address): Promise<TcpProxy> {
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: false });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, target);
  }

  /** Connections open now. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Resets every open connection; new ones go to this server, as with an address that moves to the new primary. */
  moveTo(target: Address): void {
    this.#target = target;
    this.cut();
  }

  /** Resets every open connection; new ones are treated as before. */
  cut(): void {
    for (const [client, upstream] of this.#pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  /** Refuses from the moment on when a client sends this text, which gets no answer; resolves then. */
  refuseAt(text: string): Promise<void> {
    return new Promise((done) => {
      this.#cutting = { text, done };
    });
  }

  /** Resets every open connection and every new one. */
  refuse(): void {
    this.#mode = 'refusing';
    this.cut();
  }

  /** Keeps connections open, and takes new ones, but passes nothing on: as a network that drops packets. */
  stall(): void {
    this.#mode = 'stalled';
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream).pause();
      upstream.unpipe(client).pause();
    }
  }

  /** Passes nothing more on over the connections that are open; new ones work: as a router that has forgotten them. */
  forget(): void {
    const mode = this.#mode;
    this.stall();
    this.#mode = mode;
  }

  /** Back to passing everything on, what was held back first. */
  pass(): void {
    this.#mode = 'passing';
    for (const [client, upstream] of this.#pairs) join(client, upstream);
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #open(client: Socket): void {
    if (this.#mode === 'refusing') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(this.#target);
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    for (const [one, other] of [pair, [upstream, client] as const]) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
    client.on('data', (piece: Buffer) => {
      if (this.#cutting === undefined || !piece.includes(this.#cutting.text)) return;
      const { done } = this.#cutting;
      this.#cutting = undefined;
      this.refuse();
      done();
    });
    if (this.#mode === 'passing') join(client, upstream);
  }
}

function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
}
