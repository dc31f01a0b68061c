import { sleep } from '../../async/sleep.ts';
import { ConfigError, toError } from '../../errors.ts';
import { httpRequest } from '../../http/http-client.ts';
import type { PreviewAnswer } from '../../operate/preview/preview-answers.ts';
import type { ConfigInfosAnswer, ConnectorInfoAnswer, ConnectorStateAnswer } from '../../rest/answers.ts';

export interface ConnectAddress {
  readonly url: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** CA certificates (PEM) that verify the worker's certificate. */
  readonly ca: Buffer | undefined;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export type ConnectorConfigs = Readonly<Record<string, string | null>>;

/**
 * A connector as `GET /connectors?expand=…` returns it, with only the members that are used here. Values of a
 * configuration may be null in Kafka Connect.
 */
export interface ClusterConnector {
  readonly info: Pick<ConnectorInfoAnswer, 'tasks' | 'type'> & { readonly config: ConnectorConfigs };
  readonly status?: Pick<ConnectorStateAnswer, 'connector'>;
}

/** Time limit without any data from the worker. It is longer than the 90 s within which a worker answers. */
const IDLE_TIMEOUT_MS = 100_000;
/** Time limit of a whole request. It is longer than `IDLE_TIMEOUT_MS`, because a large answer may arrive slowly. */
const TIMEOUT_MS = 600_000;
const MAX_ANSWER_BYTES = 256_000_000;
const STATUS_WAITS_MS = [100, 400, 1000, 2000];
const CONFLICT_WAITS_MS = [500, 1000, 2000, 4000, 8000, 15_000];

/**
 * The REST API of any Connect worker. Errors are ConfigErrors with the method, the path and the worker's message; those
 * of `preview` have only the message.
 */
export class ConnectClient {
  readonly #address: ConnectAddress;
  readonly #base: URL;

  constructor(address: ConnectAddress) {
    if (!URL.canParse(address.url) || !/^https?:$/.test(new URL(address.url).protocol)) {
      throw new ConfigError(`--url ${address.url} is not an http or https URL`);
    }
    this.#address = address;
    this.#base = new URL(address.url);
  }

  /**
   * All connectors, with their statuses. With `expand=status`, a worker omits connectors without a status. New
   * connectors have none at first, so the request is repeated for a few seconds.
   */
  async connectors(): Promise<Readonly<Record<string, ClusterConnector>>> {
    const connectors = await this.#need<Record<string, ClusterConnector>>('GET', '/connectors?expand=info');
    for (let attempt = 0; ; attempt += 1) {
      const statuses = await this.#need<Record<string, Pick<ClusterConnector, 'status'>>>(
        'GET',
        '/connectors?expand=status',
      );
      const waitMs = STATUS_WAITS_MS[attempt];
      if (waitMs === undefined || Object.keys(connectors).every((name) => Object.hasOwn(statuses, name))) {
        return Object.fromEntries(
          Object.entries(connectors).map(([name, { info }]) => {
            const { status } = (Object.hasOwn(statuses, name) ? statuses[name] : undefined) ?? {};
            return [name, status === undefined ? { info } : { info, status }];
          }),
        );
      }
      await sleep(waitMs);
    }
  }

  async config(name: string): Promise<ConnectorConfigs> {
    return this.#need('GET', `/connectors/${encodeURIComponent(name)}/config`);
  }

  validate(pluginClass: string, config: ConnectorConfigs): Promise<ConfigInfosAnswer> {
    return this.#need('PUT', `/connector-plugins/${encodeURIComponent(pluginClass)}/config/validate`, config);
  }

  /** Previews the newest `count` messages of the topic. Returns `undefined` if the worker has no such route. */
  async preview(
    pluginClass: string,
    config: ConnectorConfigs,
    topic: string,
    count: number,
  ): Promise<PreviewAnswer | undefined> {
    const path = `/connector-plugins/${encodeURIComponent(pluginClass)}/preview`;
    const { status, body } = await this.#ask('POST', path, { config, topic, count });
    if (status === 405 || (status === 404 && !/topic/i.test(said(body)))) return undefined;
    if (status >= 300) throw new ConfigError(said(body));
    return body as PreviewAnswer;
  }

  async create(name: string, config: ConnectorConfigs, initialState: string | undefined): Promise<void> {
    const state = initialState === undefined ? {} : { initial_state: initialState.toUpperCase() };
    await this.#need('POST', '/connectors', { name, config, ...state });
  }

  async change(name: string, config: ConnectorConfigs): Promise<void> {
    await this.#need('PUT', `/connectors/${encodeURIComponent(name)}/config`, config);
  }

  async setState(name: string, action: 'pause' | 'resume' | 'stop'): Promise<void> {
    await this.#need('PUT', `/connectors/${encodeURIComponent(name)}/${action}`);
  }

  async remove(name: string): Promise<void> {
    await this.#need('DELETE', `/connectors/${encodeURIComponent(name)}`);
  }

  /** Sends a request for a path that only Sluice workers have. */
  ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.#need<T>(method, path, body);
  }

  /** Retries for about 30 s while the worker answers with status 409 because of a rebalance or another operation. */
  async #need<T>(method: string, path: string, body?: unknown): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#ask(method, path, body);
      if (answer.status < 300) return answer.body as T;
      const waitMs = CONFLICT_WAITS_MS[attempt];
      if (answer.status !== 409 || waitMs === undefined || !/rebalanc|conflicting operation/i.test(said(answer.body))) {
        throw new ConfigError(`${method} ${path} failed with status ${String(answer.status)}: ${said(answer.body)}`);
      }
      await sleep(waitMs);
    }
  }

  async #ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const { user, password = '', ca } = this.#address;
    const content = body === undefined ? undefined : JSON.stringify(body);
    const named = user ?? (this.#base.username === '' ? undefined : decodeURIComponent(this.#base.username));
    const secret = user === undefined ? decodeURIComponent(this.#base.password) : password;
    try {
      const answer = await httpRequest({
        method,
        url: new URL(`${this.#base.pathname.replace(/\/$/, '')}${path}`, this.#base),
        headers: {
          Accept: 'application/json',
          ...(content === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(named === undefined ? {} : { Authorization: basicAuth(named, secret) }),
        },
        body: content,
        timeoutMs: TIMEOUT_MS,
        idleTimeoutMs: IDLE_TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        tls: ca === undefined ? undefined : { ca },
      });
      return { status: answer.status, body: parsed(answer.body.toString()) };
    } catch (error) {
      const { message } = toError(error);
      throw new ConfigError(`${method} ${path} at the worker ${this.#base.origin} failed: ${message}`, {
        cause: error,
      });
    }
  }
}

function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function said(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') {
    return body.message;
  }
  return typeof body === 'string' ? body.slice(0, 500) : '';
}
