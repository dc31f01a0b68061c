import { assertDescribed } from './open-api-check.ts';
import { until, type UntilOptions } from './until.ts';

export interface RestAnswer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON if the response declares JSON and has a body; otherwise the text. */
  readonly body: T;
}

export interface TaskStatus {
  readonly id: number;
  readonly state: string;
  readonly worker_id: string;
  readonly trace?: string;
}

export interface ConnectorStatus {
  readonly name: string;
  readonly connector: { readonly state: string; readonly worker_id: string; readonly trace?: string };
  readonly tasks: readonly TaskStatus[];
  readonly type: string;
}

/**
 * A small client of Connect's REST API. It returns responses of any status, provided that the OpenAPI description
 * allows them. Only `expect…` and `until…` require a certain result.
 */
export class ConnectRest {
  readonly url: string;
  readonly #authorization: Readonly<Record<string, string>>;

  /** `login` is `user:password` for basic authentication. */
  constructor(url: string, login?: string) {
    this.url = url.replace(/\/$/, '');
    this.#authorization =
      login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  }

  async request<T = unknown>(method: string, path: string, body?: unknown): Promise<RestAnswer<T>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body === undefined
        ? { headers: this.#authorization }
        : {
            headers: { ...this.#authorization, 'content-type': 'application/json' },
            body: typeof body === 'string' ? body : JSON.stringify(body),
          }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
    const answer = {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : text) as T,
    };
    assertDescribed(method, path, answer.status, answer.body);
    return answer;
  }

  get<T = unknown>(path: string): Promise<RestAnswer<T>> {
    return this.request<T>('GET', path);
  }

  post<T = unknown>(path: string, body?: unknown): Promise<RestAnswer<T>> {
    return this.request<T>('POST', path, body);
  }

  put<T = unknown>(path: string, body?: unknown): Promise<RestAnswer<T>> {
    return this.request<T>('PUT', path, body);
  }

  delete<T = unknown>(path: string): Promise<RestAnswer<T>> {
    return this.request<T>('DELETE', path);
  }

  /** Sends `POST /connectors`. Throws unless the response is 201. */
  async create(name: string, config: Readonly<Record<string, string>>): Promise<void> {
    const answer = await this.post('/connectors', { name, config: { name, ...config } });
    if (answer.status !== 201)
      throw new Error(`POST /connectors ${String(answer.status)}: ${JSON.stringify(answer.body)}`);
  }

  async status(name: string): Promise<ConnectorStatus> {
    const answer = await this.get<ConnectorStatus>(`/connectors/${encodeURIComponent(name)}/status`);
    if (answer.status !== 200)
      throw new Error(`status of ${name}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /**
   * Waits until the connector and all its tasks are in `state`. If `tasks` is given, there must be that number of
   * tasks.
   */
  async untilState(name: string, state: string, tasks?: number, options: UntilOptions = {}): Promise<ConnectorStatus> {
    let seen: ConnectorStatus | undefined;
    const holds = async (): Promise<ConnectorStatus | undefined> => {
      const answer = await this.get<ConnectorStatus>(`/connectors/${encodeURIComponent(name)}/status`);
      // Immediately after its creation, a connector has no status.
      if (answer.status === 404) return undefined;
      seen = await this.status(name);
      const enough = tasks === undefined ? seen.tasks.length > 0 : seen.tasks.length === tasks;
      const states = [seen.connector.state, ...seen.tasks.map((task) => task.state)];
      return enough && states.every((each) => each === state) ? seen : undefined;
    };
    try {
      return await until(holds, `connector ${name} and its tasks ${state}`, options);
    } catch (error) {
      throw new Error(`${name} is not ${state}: ${JSON.stringify(seen)}`, { cause: error });
    }
  }
}
