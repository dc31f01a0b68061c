import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface KubernetesStub {
  readonly url: string;
  /** Path and `Authorization` header of each request. */
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
  /** The response bodies by path. A number is a status without a resource. */
  readonly resources: Map<string, string | number>;
  close(): Promise<void>;
}

/** Starts a stub of a Kubernetes API server that supports `GET` of single resources. */
export async function kubernetesStub(resources: Readonly<Record<string, unknown>>): Promise<KubernetesStub> {
  const known = new Map<string, string | number>(
    Object.entries(resources).map(([path, body]) => [path, typeof body === 'number' ? body : JSON.stringify(body)]),
  );
  const requests: { path: string; authorization: string | undefined }[] = [];
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push({ path, authorization: request.headers.authorization });
    const body = known.get(path) ?? 404;
    response.writeHead(typeof body === 'number' ? body : 200, { 'content-type': 'application/json' });
    response.end(typeof body === 'number' ? '{"kind":"Status","message":"secret text"}' : body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    resources: known,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
