import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface OpenConnection {
  readonly socket: Socket;
  /** The connections of a group share its limit; `undefined`: no group. */
  readonly group: string | undefined;
  /** The connection exceeded the limit: its request is answered with a refusal. */
  readonly isRefused: boolean;
  readonly openedAtMs: number;
  /** Requests under way. */
  requests: number;
  hadRequest: boolean;
  /** The last request, and when its headers were complete. */
  newest: { readonly request: IncomingMessage; readonly sinceMs: number } | undefined;
}

/** A request whose body has been arriving for this long is slow. */
const SLOW_MS = 2_000;

/** Which idle connection may be closed for a new one. */
export interface Wanted {
  /** Only connections of this group; `undefined`: of any group. */
  readonly from: string | undefined;
  /** The group of the new connection. */
  readonly for: string | undefined;
  /** The share of a group: with more connections, it gives way to other groups. */
  readonly share: number;
}

/** The connections of one port, those idle for longest first. */
export class OpenConnections {
  readonly #all = new Set<OpenConnection>();
  /** By the remote address and port, because the TLS socket of a request wraps the accepted one. */
  readonly #byPeer = new Map<string, OpenConnection>();
  readonly #counts = new Map<string, number>();
  readonly #youthMs: number;
  #refused = 0;

  /** A connection that is younger than `youthMs` is not idle before its first request: its handshake or its headers are under way. */
  constructor(youthMs: number) {
    this.#youthMs = youthMs;
  }

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
    const openedAtMs = performance.now();
    const connection: OpenConnection = {
      ...{ socket, group, isRefused, openedAtMs },
      ...{ requests: 0, hadRequest: false, newest: undefined },
    };
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

  /** Marks the connection as busy until the answer is sent. */
  busy(connection: OpenConnection, request: IncomingMessage, response: ServerResponse): void {
    connection.requests += 1;
    connection.hadRequest = true;
    connection.newest = { request, sinceMs: performance.now() };
    response.once('close', () => {
      connection.requests -= 1;
      // Idle from now on: those idle for longer come before it.
      if (this.#all.delete(connection)) this.#all.add(connection);
    });
  }

  /**
   * Closes the connection idle for longest, of the wanted group or of the one that has the most idle ones; false when none is idle. A young
   * connection, and one whose request is slow to arrive, gives way only to another group, if its own has more than its share: otherwise one
   * silent or slow client would keep all others out.
   */
  giveWay(wanted: Wanted): boolean {
    const mayGo = [...this.#all].filter((each) => !each.isRefused && (each.requests === 0 || this.#isSlow(each)));
    const idle = mayGo.filter((each) => each.requests === 0 && !this.#isYoung(each));
    const largest = wanted.from ?? this.#largest(idle);
    const victim =
      idle.find(({ group }) => group === largest) ??
      mayGo.find(({ group }) => wanted.from === undefined && this.#isOverShare(group, wanted));
    if (victim === undefined) return false;
    this.#remove(victim);
    victim.socket.destroy();
    return true;
  }

  #isYoung({ hadRequest, openedAtMs }: OpenConnection): boolean {
    return !hadRequest && performance.now() - openedAtMs < this.#youthMs;
  }

  #isSlow({ requests, newest }: OpenConnection): boolean {
    if (requests > 1 || newest === undefined) return false;
    return !newest.request.complete && performance.now() - newest.sinceMs > Math.min(SLOW_MS, this.#youthMs);
  }

  #isOverShare(group: string | undefined, wanted: Wanted): boolean {
    return group !== undefined && group !== wanted.for && this.countOf(group) > wanted.share;
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
