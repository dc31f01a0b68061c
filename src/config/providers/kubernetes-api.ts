import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toError } from '../../errors.ts';
import { httpRequest } from '../../http/http-client.ts';

/** Directory in which Kubernetes mounts the token, the CA certificate and the namespace of a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const TIMEOUT_MS = 10_000;

export type KubernetesResource = 'secrets' | 'configmaps';

/** The API server responded with a status other than 200. */
export class KubernetesStatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the Kubernetes API server responded with status ${String(status)}`);
    this.status = status;
  }
}

/**
 * The API server of the cluster in which this pod runs, accessed as the pod's service account. `KUBERNETES_MASTER`,
 * `KUBERNETES_NAMESPACE`, `KUBERNETES_AUTH_TOKEN` and `KUBERNETES_CERTS_CA_FILE` override the pod's settings, as in the Java client
 * of Strimzi's providers.
 */
export class KubernetesApi {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #serviceAccount: string;

  constructor(environment: Readonly<Record<string, string | undefined>>, serviceAccount = SERVICE_ACCOUNT) {
    this.#environment = environment;
    this.#serviceAccount = serviceAccount;
  }

  /** The namespace of the pod; `undefined` outside of a cluster. */
  async namespace(): Promise<string | undefined> {
    return this.#environment['KUBERNETES_NAMESPACE'] ?? (await this.#mounted('namespace'))?.trim();
  }

  /**
   * The field `data` of a resource. A mounted token is read each time, because Kubernetes rotates it. Rejects with a
   * KubernetesStatusError for a status other than 200, and with another Error if the server is unknown, does not
   * respond or does not respond with JSON.
   */
  async data(kind: KubernetesResource, namespace: string, name: string): Promise<ReadonlyMap<string, string>> {
    const server = this.#server();
    if (server === undefined) {
      throw new Error('the API server is unknown: set KUBERNETES_SERVICE_HOST or KUBERNETES_MASTER');
    }
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind}/${encodeURIComponent(name)}`;
    const token = this.#environment['KUBERNETES_AUTH_TOKEN'] ?? (await this.#mounted('token'))?.trim();
    const answer = await this.#get(new URL(server.pathname.replace(/\/$/, '') + path, server), token);
    return dataOf(answer);
  }

  #server(): URL | undefined {
    const {
      KUBERNETES_MASTER: master,
      KUBERNETES_SERVICE_HOST: host,
      KUBERNETES_SERVICE_PORT: port,
    } = this.#environment;
    if (master !== undefined && master !== '') return new URL(master);
    if (host === undefined || host === '') return undefined;
    return new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port ?? '443'}`);
  }

  async #get(url: URL, token: string | undefined): Promise<string> {
    const ca = url.protocol === 'https:' ? await this.#caCertificate() : undefined;
    const { status, body } = await httpRequest({
      url,
      headers: {
        accept: 'application/json',
        ...(token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      timeoutMs: TIMEOUT_MS,
      tls: ca === undefined ? undefined : { ca },
    });
    if (status !== 200) throw new KubernetesStatusError(status);
    return body.toString();
  }

  async #caCertificate(): Promise<string | undefined> {
    const file = this.#environment['KUBERNETES_CERTS_CA_FILE'];
    return file === undefined || file === '' ? this.#mounted('ca.crt') : readFile(file, 'utf8');
  }

  async #mounted(name: string): Promise<string | undefined> {
    return readFile(join(this.#serviceAccount, name), 'utf8').catch(() => undefined);
  }
}

/** Does not include the message of the parser, which would quote the response. */
function dataOf(text: string): ReadonlyMap<string, string> {
  let data: unknown;
  try {
    ({ data } = JSON.parse(text) as { data?: unknown });
  } catch (error) {
    throw new Error(`the response is not a JSON object (${toError(error).name})`);
  }
  const entries = Object.entries((data ?? {}) as Record<string, unknown>);
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
