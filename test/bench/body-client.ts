import { Agent, request } from 'node:http';

export interface BodyTarget {
  readonly port: number;
  readonly token: string;
  readonly path: string;
  readonly contentType: string;
  /** Requests on their way at the same time, each on a connection of its own. */
  readonly inFlight: number;
}

/** Status and body of a response. */
export interface BodyAnswer {
  readonly status: number;
  readonly text: string;
  /** As the service tells it by `Server-Timing`. */
  readonly parseMs: number;
}

/** Posts bodies over connections that stay open; a body that begins like gzip gets the header for gzip. */
export class BodyClient {
  readonly #target: BodyTarget;
  readonly #agent: Agent;

  constructor(target: BodyTarget) {
    this.#target = target;
    this.#agent = new Agent({ keepAlive: true, maxSockets: target.inFlight });
  }

  /** Sends all of them and gives `onAnswer` each answer, which throws where it is not as it should be. Resolves with the time of parsing. */
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

/** Throws unless the answer is a success without a complaint. */
export function expectSuccess({ status, text }: BodyAnswer): void {
  if (status !== 200 && status !== 204) throw new Error(`${String(status)}: ${text.slice(0, 500)}`);
}
