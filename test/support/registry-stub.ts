import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StubSchema {
  readonly schema: string;
  readonly schemaType?: string;
  readonly references?: readonly { readonly name: string; readonly subject: string; readonly version: number }[];
}

export interface StubAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface Version {
  readonly id: number;
  readonly version: number;
  readonly content: StubSchema;
}

const NOT_FOUND: StubAnswer = { status: 404, body: { error_code: 404, message: 'HTTP 404 Not Found' } };

/** An in-memory schema registry that supports the part of Confluent's interface that the converters use. */
export class RegistryStub {
  /** `METHOD /path?query` of each request, in order. */
  readonly requests: string[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  readonly bodies: string[] = [];
  /** Returns a response to send instead of the registry's own, or `undefined`. */
  intercept: ((request: string) => StubAnswer | undefined) | undefined;
  readonly #server: Server;
  readonly #subjects = new Map<string, Version[]>();
  readonly #ids = new Map<string, number>();

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<RegistryStub> {
    const stub = new RegistryStub();
    stub.#server.listen(0, '127.0.0.1');
    await once(stub.#server, 'listening');
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Registers a schema under a subject. Returns its id, which equal schemas share. */
  add(subject: string, content: StubSchema): number {
    const versions = this.#subjects.get(subject) ?? [];
    const key = JSON.stringify([content.schemaType ?? 'AVRO', content.schema]);
    const id = this.#ids.get(key) ?? this.#ids.size + 1;
    this.#ids.set(key, id);
    if (!versions.some((each) => each.id === id)) versions.push({ id, version: versions.length + 1, content });
    this.#subjects.set(subject, versions);
    return id;
  }

  /** Returns the number of requests that start with this text. */
  count(start: string): number {
    return this.requests.filter((request) => request.startsWith(start)).length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += String(part);
    const line = `${request.method ?? ''} ${request.url ?? ''}`;
    this.requests.push(line);
    this.headers.push(request.headers);
    this.bodies.push(body);
    const answer = this.intercept?.(line) ?? this.#answer(line, body);
    response.writeHead(answer.status, { 'content-type': 'application/vnd.schemaregistry.v1+json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }

  #answer(line: string, body: string): StubAnswer {
    const [method, path = ''] = line.split('?', 1)[0]?.split(' ') ?? [];
    const [, first, second = '', third, fourth] = path.split('/').map(decodeURIComponent);
    if (method === 'GET' && first === 'schemas') {
      return fourth === undefined ? this.#byId(Number(third)) : this.#versions(Number(third));
    }
    if (first !== 'subjects') return NOT_FOUND;
    if (method === 'GET' && third === 'versions') return this.#version(second, fourth ?? '');
    if (method !== 'POST') return NOT_FOUND;
    const content = JSON.parse(body) as StubSchema;
    if (third === 'versions') return { status: 200, body: { id: this.add(second, content) } };
    const known = this.#subjects.get(second)?.find((each) => each.content.schema === content.schema);
    if (known !== undefined) return { status: 200, body: { id: known.id } };
    return { status: 404, body: { error_code: 40403, message: 'Schema not found' } };
  }

  #byId(id: number): StubAnswer {
    const found = [...this.#subjects.values()].flat().find((each) => each.id === id);
    if (found !== undefined) return { status: 200, body: found.content };
    return { status: 404, body: { error_code: 40403, message: `Schema ${String(id)} not found` } };
  }

  #versions(id: number): StubAnswer {
    const pairs = [...this.#subjects].flatMap(([subject, versions]) =>
      versions.filter((each) => each.id === id).map(({ version }) => ({ subject, version })),
    );
    return { status: 200, body: pairs };
  }

  #version(subject: string, wanted: string): StubAnswer {
    const versions = this.#subjects.get(subject) ?? [];
    const found = wanted === 'latest' ? versions.at(-1) : versions.find(({ version }) => String(version) === wanted);
    if (found === undefined) {
      return { status: 404, body: { error_code: 40401, message: `Subject '${subject}' not found.` } };
    }
    return { status: 200, body: { subject, id: found.id, version: found.version, ...found.content } };
  }
}
