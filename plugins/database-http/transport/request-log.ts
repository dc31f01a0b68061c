import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { countService, type Logger } from '../../../src/index.ts';
import type { Tally } from '../route.ts';

/** Values of the option `database.http.access.log`. */
export type AccessLog = 'off' | 'errors' | 'all';

export interface RequestEnd {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path of the route or a known prefix of the requested path; `undefined` if neither exists. */
  readonly route: string | undefined;
  readonly requestId: string;
  readonly user: string | undefined;
  /** The address of the client, from the header of a trusted proxy if there is one. */
  readonly address: string;
  readonly tally: Tally | undefined;
  readonly tookMs: number;
  /** Whether the answer was truncated. */
  readonly isCut: boolean;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);

/**
 * Counts the requests that have ended, and logs those that the option `access.log` selects. Neither the counts nor the
 * log lines contain query strings or bodies, because these contain passwords and data.
 */
export class RequestLog {
  readonly #logger: Logger;
  readonly #accessLog: AccessLog;
  /** Number of bytes of a connection that were already counted, by connection. */
  readonly #counted = new WeakMap<Socket, { read: number; written: number }>();

  constructor(logger: Logger, accessLog: AccessLog) {
    this.#logger = logger;
    this.#accessLog = accessLog;
  }

  ended(end: RequestEnd): void {
    const { received, sent } = this.#bytesOf(end.request.socket);
    const method = METHODS.has(end.request.method ?? '') ? (end.request.method ?? '') : 'other';
    const route = end.route ?? 'unknown';
    const status = end.isCut ? 'cut' : String(end.response.statusCode);
    const count = (name: string, help: string, value: number, labels: Readonly<Record<string, string>> = {}): void =>
      countService({ name: `sluice_database_http_${name}_total`, help, labels: { route, ...labels }, value });
    count('requests', 'Requests that have ended, by status; cut: the answer broke off', 1, { method, status });
    count('request_seconds', 'Time that requests took until they ended', end.tookMs / 1000);
    count('received_bytes', 'Bytes of requests, with their heads', received);
    count('sent_bytes', 'Bytes of answers, with their heads', sent);
    count('rows', 'Rows that were read or stored', end.tally?.rows ?? 0);
    count('faults', 'Lines, points and statements that could not be stored or run', end.tally?.faults ?? 0, { status });
    this.#write(end, { method, route, status, received, sent });
  }

  #write(
    { user, address, requestId, tally, tookMs, response, isCut }: RequestEnd,
    figures: Readonly<Record<string, unknown>>,
  ): void {
    const isError = isCut || response.statusCode >= 400;
    if (this.#accessLog === 'off' || (this.#accessLog === 'errors' && !isError)) return;
    const fields = { requestId, user, address, ...figures, ...tally, tookMs: Math.round(tookMs) };
    const { method, route, status } = figures;
    this.#logger.info(fields, `database HTTP API: ${String(method)} ${String(route)} ${String(status)}`);
  }

  #bytesOf(socket: Socket): { received: number; sent: number } {
    const before = this.#counted.get(socket) ?? { read: 0, written: 0 };
    const now = { read: socket.bytesRead, written: socket.bytesWritten };
    this.#counted.set(socket, now);
    return { received: Math.max(0, now.read - before.read), sent: Math.max(0, now.written - before.written) };
  }
}
