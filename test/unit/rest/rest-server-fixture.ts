import type { TlsOptions } from 'node:tls';
import { silentLogger } from '../../../src/observe/logger.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { StageTracker } from '../../../src/observe/stage.ts';
import { RestServer, type RestSettings } from '../../../src/rest/server.ts';
import { served, type ServedParts } from '../../../src/worker/routes.ts';

/** The management API of a worker that knows the names of its connectors, and nothing else. */
export class RestServerFixture {
  readonly port: number;
  readonly #server: RestServer;

  private constructor(server: RestServer, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(settings: Partial<RestSettings>, names: readonly string[], tls?: TlsOptions) {
    const stage = new StageTracker();
    const secrets = new SecretMask();
    const server = new RestServer(
      { stage, secrets, logger: silentLogger },
      {
        admin: 'shared',
        crossOrigin: { origins: '', methods: '' },
        allowedHosts: [],
        own: { url: '', names: [] },
        headerRules: [],
        extensions: [],
        maxConnections: 500,
        ...settings,
      },
    );
    const port = await server.listen({ host: '127.0.0.1', port: 0, tls }, 'main');
    const herder = { ready: true, stage, directory: { names: () => names } };
    server.serve(served({ herder, secrets, readings: {}, logger: silentLogger } as unknown as ServedParts));
    return new RestServerFixture(server, port);
  }

  get heldBytes(): number {
    return this.#server.heldBytes;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
