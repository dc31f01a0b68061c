import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface OpenConnection {
  readonly socket: Socket;
  /** The connections of a group share its limit; `undefined`: no group. */
  readonly group: string | undefined;
  /** Whether the connection exceeds the limit, so that its requests are refused. */
  readonly isRefused: boolean;
  readonly openedAtMs: number;
  /** Number of requests in progress. */
  requests: number;
  hadRequest: boolean;
  /** The last request, and when its headers were complete (`performance.now()`). */
  newest: { readonly request: IncomingMessage; readonly sinceMs: number } | undefined;
}

/** A request is slow if its body has been arriving for longer than this, or than `youthMs` if that is shorter. */
const SLOW_MS = 2_000;

/** Which connection may be closed to make room for a new one. */
export interface Wanted {
  /** Only connections of this group; `undefined`: of any group. */
  readonly from: string | undefined;
  /** The group of the new connection. */
  readonly for: string | undefined;
  /**
   * If a group has more connections than this, its young connections and those with a slow request may be closed for a
   * connection of another group.
   */
  readonly share: number;
}

/** The connections of one port. The one that has been idle for the longest time comes first. */
export class OpenConnections {
  readonly #all = new Set<OpenConnection>();
  /**
   * The connections by remote address and port. The socket of an HTTPS request is a TLS socket around the accepted one,
   * so it cannot be the key itself.
   */
  readonly #byPeer = new Map<string, OpenConnection>();
  readonly #counts = new Map<string, number>();
  readonly #youthMs: number;
  #refused = 0;

  /**
   * Before its first request, a connection that is younger than `youthMs` is not idle, because its TLS handshake or its
   * headers are still in progress.
   */
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
      // Moves the connection behind those that have been idle for longer.
      if (this.#all.delete(connection)) this.#all.add(connection);
    });
  }

  /**
   * Closes a connection to make room for a new one; returns `false` if none can be closed. The first choice is the
   * longest idle connection of the group `from`. If `from` is `undefined`, it is the longest idle connection of the
   * largest group that has an idle one. If no connection is idle and `from` is `undefined`, a young connection or one
   * with a slow request is closed, but only if its group has more than `share` connections and the new connection is of
   * another group. Without this, one client with silent or slow connections could keep all other clients out.
   */
  giveWay(wanted: Wanted): boolean {
    const closable = [...this.#all].filter((each) => !each.isRefused && (each.requests === 0 || this.#isSlow(each)));
    const idle = closable.filter((each) => each.requests === 0 && !this.#isYoung(each));
    const largest = wanted.from ?? this.#largest(idle);
    const victim =
      idle.find(({ group }) => group === largest) ??
      closable.find(({ group }) => wanted.from === undefined && this.#isOverShare(group, wanted));
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
