import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnNewPort } from './new-port.ts';

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

  private constructor(server: Server, port: number, target: Address) {
    this.#server = server;
    this.#target = target;
    this.port = port;
    server.on('connection', (client) => {
      this.#open(client);
    });
  }

  static async start(target: Address): Promise<TcpProxy> {
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: false });
    return new TcpProxy(server, await listenOnNewPort(server), target);
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Resets all open connections. New connections go to this server, as if an address had moved to the new primary. */
  moveTo(target: Address): void {
    this.#target = target;
    this.cut();
  }

  /** Resets all open connections. New connections are treated as before. */
  cut(): void {
    for (const [client, upstream] of this.#pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  /** Starts to refuse connections when a client sends this text, which gets no response; then resolves. */
  refuseAt(text: string): Promise<void> {
    return new Promise((done) => {
      this.#cutting = { text, done };
    });
  }

  /** Resets all open connections and all new ones. */
  refuse(): void {
    this.#mode = 'refusing';
    this.cut();
  }

  /** Keeps connections open and accepts new ones but passes nothing on, like a network that drops packets. */
  stall(): void {
    this.#mode = 'stalled';
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream).pause();
      upstream.unpipe(client).pause();
    }
  }

  /** Passes nothing on over the open connections, while new ones work, like a router that has lost its state. */
  forget(): void {
    const mode = this.#mode;
    this.stall();
    this.#mode = mode;
  }

  /** Passes everything on again, beginning with the data that was held back. */
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
