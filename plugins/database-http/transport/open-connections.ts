import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface OpenConnection {
  readonly socket: Socket;
  /** What it counts with; `undefined`: with none. */
  readonly group: string | undefined;
  /** It came when there was no room: its request is answered with that. */
  readonly isRefused: boolean;
  /** Requests under way: without one it is idle, also before its first bytes and while its headers are on their way. */
  requests: number;
}

/** The connections of one port, those idle for longest first. */
export class OpenConnections {
  readonly #all = new Set<OpenConnection>();
  /** By the other end, because the TLS socket of a request wraps the one that came in. */
  readonly #byPeer = new Map<string, OpenConnection>();
  readonly #counts = new Map<string, number>();
  #refused = 0;

  get taken(): number {
    return this.#all.size - this.#refused;
  }

  get refused(): number {
    return this.#refused;
  }

  all(): Iterable<OpenConnection> {
    return this.#all;
  }

  countOf(group: string): number {
    return this.#counts.get(group) ?? 0;
  }

  add(socket: Socket, group: string | undefined, isRefused: boolean): void {
    const connection: OpenConnection = { socket, group, isRefused, requests: 0 };
    const peer = peerOf(socket);
    this.#all.add(connection);
    this.#byPeer.set(peer, connection);
    if (isRefused) this.#refused += 1;
    else if (group !== undefined) this.#counts.set(group, this.countOf(group) + 1);
    socket.once('close', () => {
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
      this.#remove(connection);
    });
  }

  of(socket: Socket): OpenConnection | undefined {
    return this.#byPeer.get(peerOf(socket));
  }

  /** It is not idle until the answer is sent. */
  busy(connection: OpenConnection, response: ServerResponse): void {
    connection.requests += 1;
    response.once('close', () => {
      connection.requests -= 1;
      // Idle from now on: those idle for longer come before it.
      if (this.#all.delete(connection)) this.#all.add(connection);
    });
  }

  /** Closes the connection idle for longest, of one group or of the one that has the most idle ones; false when none is idle. */
  giveWay(group: string | undefined): boolean {
    const idle = [...this.#all].filter(({ requests, isRefused }) => requests === 0 && !isRefused);
    const wanted = group ?? this.#largest(idle);
    const victim = idle.find((each) => each.group === wanted);
    if (victim === undefined) return false;
    this.#remove(victim);
    victim.socket.destroy();
    return true;
  }

  /** Closes a refused connection that has sent no request; false when there is none. */
  dropRefused(): boolean {
    for (const connection of this.#all) {
      if (!connection.isRefused || connection.requests > 0) continue;
      this.#remove(connection);
      connection.socket.destroy();
      return true;
    }
    return false;
  }

  #largest(idle: readonly OpenConnection[]): string | undefined {
    let largest: string | undefined;
    let most = 0;
    for (const { group } of idle) {
      const count = group === undefined ? 1 : this.countOf(group);
      if (count > most) [largest, most] = [group, count];
    }
    return largest;
  }

  #remove(connection: OpenConnection): void {
    if (!this.#all.delete(connection)) return;
    const { group, isRefused } = connection;
    if (isRefused) this.#refused -= 1;
    else if (group !== undefined) {
      const count = this.countOf(group) - 1;
      if (count > 0) this.#counts.set(group, count);
      else this.#counts.delete(group);
    }
  }
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${String(remotePort)}`;
}
