import { Agent, request } from 'node:http';

export interface BodyTarget {
  readonly port: number;
  readonly token: string;
  readonly path: string;
  readonly contentType: string;
  /** Number of concurrent requests. Each uses its own connection. */
  readonly inFlight: number;
}

/** Status and body of a response. */
export interface BodyAnswer {
  readonly status: number;
  readonly text: string;
  /** As reported by the service in `Server-Timing`. */
  readonly parseMs: number;
}

/** Posts bodies over persistent connections. A body that begins like gzip gets the header for gzip. */
export class BodyClient {
  readonly #target: BodyTarget;
  readonly #agent: Agent;

  constructor(target: BodyTarget) {
    this.#target = target;
    this.#agent = new Agent({ keepAlive: true, maxSockets: target.inFlight });
  }

  /**
   * Sends all bodies and calls `onAnswer` for each response. `onAnswer` throws if the response is not as expected.
   * Resolves with the total time of parsing.
   */
  async sendAll(bodies: readonly Buffer[], onAnswer: (answer: BodyAnswer) => void): Promise<number> {
    let next = 0;
    let parseMs = 0;
    const sender = async (): Promise<void> => {
      for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
        const answer = await this.#send(body);
        onAnswer(answer);
        parseMs += answer.parseMs;
      }
    };
    await Promise.all(Array.from({ length: this.#target.inFlight }, sender));
    return parseMs;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(body: Buffer): Promise<BodyAnswer> {
    const { port, token, path, contentType } = this.#target;
    const isPacked = body[0] === 0x1f && body[1] === 0x8b;
    const headers = {
      Authorization: `Basic ${token}`,
      'Content-Type': contentType,
      'Content-Length': body.length,
      ...(isPacked ? { 'Content-Encoding': 'gzip' } : {}),
    };
    return new Promise((resolve, reject) => {
      const call = request({ port, agent: this.#agent, method: 'POST', path, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const parse = /parse;dur=([\d.]+)/.exec(String(response.headers['server-timing']));
          resolve({ status: response.statusCode ?? 0, text, parseMs: Number(parse?.[1] ?? 0) });
        });
      });
      call.on('error', reject);
      call.end(body);
    });
  }
}

/** Throws unless the response reports success without any problem. */
export function expectSuccess({ status, text }: BodyAnswer): void {
  if (status !== 200 && status !== 204) throw new Error(`${String(status)}: ${text.slice(0, 500)}`);
}
