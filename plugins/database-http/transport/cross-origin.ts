import type { IncomingMessage, ServerResponse } from 'node:http';
import { allowOrigin, ConfigError } from '../../../src/index.ts';

/** Headers that pages may send in addition to the CORS-safelisted request headers (Fetch standard). */
const ALLOWED_HEADERS = 'Authorization, Content-Type, Content-Encoding, Accept, X-Request-Id';
/** Headers that pages may read in addition to the CORS-safelisted response headers such as `Content-Type`. */
const EXPOSED_HEADERS =
  'Retry-After, Server-Timing, X-Request-Id, X-Truncated, X-Continuation, X-SQL-State, X-SQL-Position, X-Rows-Collapsed, X-Influxdb-Version, X-Influxdb-Build';
const PREFLIGHT_MAX_AGE_S = 600;

/**
 * Informs browsers which pages may call the API (`cors.allow.origins`). Cross-origin requests cannot use cookies; pages send the
 * header `Authorization`.
 */
export class CrossOrigin {
  readonly #isAllowed: ((origin: string) => boolean) | undefined;

  /**
   * `origins` are values such as `https://app.example.org`, in which `*` may represent the first labels, or `*` for all origins.
   * Throws a ConfigError for an invalid value.
   */
  constructor(origins: readonly string[]) {
    const tests = origins.map(originTest);
    this.#isAllowed = tests.length === 0 ? undefined : (origin) => tests.some((test) => test(origin));
  }

  /**
   * Sets the CORS headers of the answer. Returns true for a preflight request, which has no credentials and gets status 204.
   * `methods` are the methods of the path's routes; `undefined` for an unknown path.
   */
  apply(request: IncomingMessage, response: ServerResponse, methods: readonly string[] | undefined): boolean {
    if (this.#isAllowed === undefined) return false;
    return allowOrigin(request, response, {
      isAllowed: this.#isAllowed,
      methods: methods?.join(', '),
      requestHeaders: ALLOWED_HEADERS,
      exposedHeaders: EXPOSED_HEADERS,
      maxAgeS: PREFLIGHT_MAX_AGE_S,
    });
  }
}

const ORIGIN = /^(https?:\/\/)(\*\.)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/;

function originTest(entry: string): (origin: string) => boolean {
  if (entry === '*') return () => true;
  const [, scheme = '', wildcard, host = '', port = ''] = ORIGIN.exec(entry.toLowerCase()) ?? [];
  if (host === '') {
    throw new ConfigError(
      `database.http.cors.allow.origins: ${entry} is not *, an origin such as https://app.example.org, or https://*.example.org`,
    );
  }
  if (wildcard === undefined) return (origin) => origin === `${scheme}${host}${port}`;
  return (origin) => origin.startsWith(scheme) && origin.endsWith(`.${host}${port}`);
}
