import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../async/backoff.ts';
import { DataError, SluiceError, toError, UnavailableError } from '../../errors.ts';
import { RegistryAnswerError, requestJson, type RegistryRequest } from './registry-request.ts';
import type { RegistrySettings } from './registry-settings.ts';
import { SharedRequests } from './shared-requests.ts';

export type SchemaType = 'AVRO' | 'PROTOBUF' | 'JSON';

/** A schema that another schema references, with its own references. */
export interface ReferencedSchema {
  /** Name that the other schema uses: a full name (Avro), an imported file (Protobuf) or a URL (JSON Schema). */
  readonly name: string;
  readonly text: string;
  readonly references: readonly ReferencedSchema[];
}

export interface RegisteredSchema {
  readonly id: number;
  readonly schemaType: string;
  readonly text: string;
  readonly references: readonly ReferencedSchema[];
}

export interface RegistryClientOptions {
  readonly settings: RegistrySettings;
  readonly schemaType: SchemaType;
  /** `normalize.schemas`. */
  readonly normalize: boolean;
  /** Maximum number of cached schemas, of cached ids and of cached latest versions. */
  readonly cacheSize: number;
  /** `latest.cache.ttl.sec` in milliseconds; `undefined` if the latest version never expires. */
  readonly latestTtlMs: number | undefined;
}

/** A schema in a response of the registry. */
interface SchemaAnswer {
  readonly id?: number;
  readonly schema?: string;
  readonly schemaType?: string;
  readonly references?: readonly { readonly name: string; readonly subject: string; readonly version: number }[] | null;
}

/** Limits of one schema with all schemas that it references. A schema counts each time it is referenced. */
const MAX_REFERENCES = 1000;
const MAX_REFERENCE_DEPTH = 100;
const MAX_TEXT = 4 * 1024 * 1024;

interface Size {
  references: number;
  characters: number;
}

/**
 * Client of the REST API of Confluent's schema registry. Immutable responses (the schema of an id, the id of a text
 * under a subject) are cached, and so is the latest version of a subject, until it expires. Methods reject with an
 * UnavailableError if the registry cannot be used now, with a RegistryAnswerError if it rejects only this request, and
 * with a DataError if a schema with its references is too large.
 */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #schemas: SharedRequests<RegisteredSchema>;
  readonly #ids: SharedRequests<number>;
  readonly #latest: SharedRequests<{ readonly schema: RegisteredSchema; readonly untilMs: number }>;
  readonly #closing = new AbortController();
  /** Index of the URL that responded last. The next request tries this URL first. */
  #current = 0;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#schemas = new SharedRequests(options.cacheSize);
    this.#ids = new SharedRequests(options.cacheSize);
    this.#latest = new SharedRequests(options.cacheSize);
  }

  /** Resolves with the schema of an id. A registry with several contexts needs the subject to find the context. */
  schemaById(id: number, subject?: string): Promise<RegisteredSchema> {
    return this.#schemas.fetch(String(id), async () => {
      const query = subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`;
      const answer = await this.#require({ method: 'GET', path: `/schemas/ids/${String(id)}${query}` });
      return this.#registered({ ...(answer as SchemaAnswer), id });
    });
  }

  /** Resolves with the version of a schema in a subject; `undefined` if the subject does not have it, or if the version is unknown. */
  async versionOf(id: number, subject: string): Promise<number | undefined> {
    const path = `/schemas/ids/${String(id)}/versions`;
    const answer = await this.#request({ method: 'GET', path }).catch((error: unknown) => {
      if (error instanceof RegistryAnswerError) return [];
      throw error;
    });
    if (!Array.isArray(answer)) return undefined;
    const pairs = answer as readonly { readonly subject: string; readonly version: number }[];
    return pairs.findLast((pair) => pair.subject === subject)?.version;
  }

  /** The cached id of a schema text in a subject; `undefined` if it is not cached. */
  knownId(subject: string, text: string): number | undefined {
    return this.#ids.known(`${subject}\n${text}`);
  }

  /**
   * Resolves with the id of a schema text in a subject. If the subject does not have the schema, it is registered (`register`),
   * or the promise is rejected.
   */
  idOf(subject: string, text: string, register: boolean): Promise<number> {
    return this.#ids.fetch(`${subject}\n${text}`, async () => {
      const { schemaType, normalize } = this.#options;
      const path = `/subjects/${encodeURIComponent(subject)}${register ? '/versions' : ''}${normalize ? '?normalize=true' : ''}`;
      const body = JSON.stringify({ schema: text, ...(schemaType === 'AVRO' ? {} : { schemaType }) });
      const { id } = (await this.#require({ method: 'POST', path, body })) as SchemaAnswer;
      if (typeof id !== 'number') throw this.#unavailable('the response has no id', { method: 'POST', path });
      return id;
    });
  }

  /** The cached latest version of a subject; `undefined` if it is not cached or has expired. */
  knownLatest(subject: string): RegisteredSchema | undefined {
    const known = this.#latest.known(subject);
    return known === undefined || Date.now() >= known.untilMs ? undefined : known.schema;
  }

  async latest(subject: string): Promise<RegisteredSchema> {
    if (this.knownLatest(subject) === undefined) this.#latest.forget(subject);
    const { schema } = await this.#latest.fetch(subject, async () => {
      const path = `/subjects/${encodeURIComponent(subject)}/versions/latest`;
      const schema = await this.#registered((await this.#require({ method: 'GET', path })) as SchemaAnswer);
      return { schema, untilMs: Date.now() + (this.#options.latestTtlMs ?? Infinity) };
    });
    return schema;
  }

  /** Aborts pending requests with an AbortError. */
  close(): void {
    this.#closing.abort();
  }

  async #registered(
    answer: SchemaAnswer,
    size: Size = { references: 0, characters: 0 },
    depth = 0,
  ): Promise<RegisteredSchema> {
    const { id, schema: text, schemaType = 'AVRO', references } = answer;
    if (typeof id !== 'number' || typeof text !== 'string') {
      throw new UnavailableError(`The schema registry at ${this.#place()} returned no schema for id ${String(id)}`);
    }
    if (depth > MAX_REFERENCE_DEPTH) {
      throw new DataError(`Schema ${String(id)} is referenced over more than ${String(MAX_REFERENCE_DEPTH)} levels`);
    }
    size.references += references?.length ?? 0;
    size.characters += text.length;
    if (size.references > MAX_REFERENCES || size.characters > MAX_TEXT) {
      const limits = `${String(MAX_REFERENCES)} references or ${String(MAX_TEXT)} characters`;
      throw new DataError(`Schema ${String(id)} has, with all schemas that it references, more than ${limits}`);
    }
    return { id, schemaType, text, references: await this.#referenced(references ?? [], size, depth) };
  }

  async #referenced(
    references: NonNullable<SchemaAnswer['references']>,
    size: Size,
    depth: number,
  ): Promise<ReferencedSchema[]> {
    const resolved: ReferencedSchema[] = [];
    for (const { name, subject, version } of references) {
      const path = `/subjects/${encodeURIComponent(subject)}/versions/${String(version)}?deleted=true`;
      const answer = (await this.#require({ method: 'GET', path })) as SchemaAnswer;
      resolved.push({ ...(await this.#registered(answer, size, depth + 1)), name });
    }
    return resolved;
  }

  /**
   * Like `#request`, but rejects with an UnavailableError if the response does not come from a schema registry (wrong
   * path, redirection), because other requests would fail as well.
   */
  async #require(request: RegistryRequest): Promise<unknown> {
    try {
      return await this.#request(request);
    } catch (error) {
      if (!(error instanceof RegistryAnswerError) || isAboutRequest(error)) throw error;
      throw this.#unavailable(
        `HTTP ${String(error.status)}, which is not the response of a schema registry`,
        request,
        error,
      );
    }
  }

  /** Each attempt tries all URLs, beginning with the one that responded last. */
  async #request(request: RegistryRequest): Promise<unknown> {
    const { maxRetries, retryWaitMs, retryMaxWaitMs } = this.#options.settings;
    for (let attempt = 0; ; attempt++) {
      const failure = await this.#askAll(request);
      if (!(failure instanceof Error)) return failure.answer;
      if (attempt >= maxRetries || failure instanceof RefusedError) {
        throw this.#unavailable(failure.message, request, failure);
      }
      const waitMs = backoffMs(attempt, { firstMs: retryWaitMs, maxMs: retryMaxWaitMs, jitter: [0.5, 1] });
      await delay(waitMs, undefined, { signal: this.#closing.signal });
    }
  }

  async #askAll(request: RegistryRequest): Promise<{ readonly answer: unknown } | Error> {
    const { urls } = this.#options.settings;
    let failure = new Error('there is no URL');
    for (const _turn of urls) {
      try {
        return { answer: await this.#askOne(request) };
      } catch (error) {
        failure = toError(error);
        this.#closing.signal.throwIfAborted();
        if (failure instanceof RegistryAnswerError && !isTransient(failure)) throw failure;
        this.#current = (this.#current + 1) % urls.length;
      }
    }
    return failure;
  }

  async #askOne(request: RegistryRequest): Promise<unknown> {
    const { settings } = this.#options;
    const url = settings.urls[this.#current];
    if (url === undefined) throw new Error('there is no URL');
    try {
      return await requestJson(url, request, settings, this.#closing.signal);
    } catch (error) {
      if (error instanceof RegistryAnswerError && (error.status === 401 || error.status === 403)) {
        const message = `it refuses the credentials (HTTP ${String(error.status)}): ${error.message}`;
        throw new RefusedError(message, { scope: 'caller' });
      }
      throw error;
    }
  }

  #unavailable(why: string, { method, path }: RegistryRequest, cause?: Error): UnavailableError {
    return new UnavailableError(
      `The request ${method} ${path} to the schema registry at ${this.#place()} failed: ${why}`,
      cause === undefined ? {} : { cause },
    );
  }

  #place(): string {
    return this.#options.settings.urls.map((url) => url.href.replace(/\/$/, '')).join(', ');
  }
}

/** The registry at one URL rejected the credentials. If this was the last URL to be tried, the request is not retried. */
class RefusedError extends SluiceError {}

/** Whether the same request may succeed later. */
function isTransient({ status }: RegistryAnswerError): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Whether the registry rejects only this request. Error codes of a registry have five digits. If the response has no such
 * code, its HTTP status decides.
 */
function isAboutRequest({ status, code }: RegistryAnswerError): boolean {
  return code >= 10_000 || status === 400 || status === 409 || status === 413 || status === 422;
}
