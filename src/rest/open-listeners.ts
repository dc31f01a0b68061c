import { networkInterfaces } from 'node:os';
import { parseHeaderRules, parseListener, type Listener as ListenerUrl } from '../config/rest-validators.ts';
import { listenFailure } from '../config/listen-failure.ts';
import type { WorkerConfig } from '../config/worker-config.ts';
import { ConfigError } from '../errors.ts';
import { jaasFileOf } from '../tls/jaas-file.ts';
import { restExtensions } from './extensions.ts';
import { listenerTls } from '../tls/listener-tls.ts';
import { nameOf, type OwnAddress } from './request-origin.ts';
import { hostPort, RestServer, type Role, type Served, type StartingWorker } from './server.ts';

/** The management API. It listens before the worker is built, so that operators see the progress of the start. */
export interface RestListeners {
  /** `host:port` at which other workers reach this worker. It is the worker id in statuses. */
  readonly advertised: string;
  /** `advertised` with the protocol. */
  readonly url: string;
  /** The addresses of `metrics.listeners`. */
  readonly metricsUrls: readonly string[];
  /** Called when the worker is built. From then on, its resources answer new and waiting requests. */
  serve(served: Served): void;
  /** Closes the listeners. Running requests may end within a second; after that, their connections are closed. */
  close(): Promise<void>;
}

/**
 * Opens all configured listeners. Throws a ConfigError for an invalid configuration before anything listens. Until
 * `serve` is called, `/health` is answered at once with 503, and all other requests wait.
 */
export async function openListeners(config: WorkerConfig, starting: StartingWorker): Promise<RestListeners> {
  const { rest } = config;
  const admin = rest['admin.listeners'];
  const extensions = restExtensions(
    {
      classes: rest['rest.extension.classes'],
      credentialsFile: config.own['rest.basic.auth.credentials.file'],
      jaasFile: jaasFileOf(process.env['KAFKA_OPTS']),
    },
    starting.logger,
  );
  const own: OwnAddress = { url: '', names: [] };
  const server = new RestServer(starting, {
    allowedHosts: config.own['allowed.hosts'],
    own,
    admin: admin === null ? 'shared' : admin.length === 0 ? 'off' : 'apart',
    crossOrigin: { origins: rest['access.control.allow.origin'], methods: rest['access.control.allow.methods'] },
    headerRules: parseHeaderRules(rest['response.http.headers.config']),
    extensions,
    maxConnections: config.own['rest.max.connections'],
  });
  const listeners = rest.listeners.map((url) => withTls(config, url, 'listeners.https.'));
  const metricsListeners = (config.own['metrics.listeners'] ?? []).map((url) =>
    withTls(config, url, 'listeners.https.'),
  );
  const metricsUrls: string[] = [];
  const adminListeners = (admin ?? []).map((url) => withTls(config, url, 'admin.listeners.https.'));
  const open: { listener: ListenerUrl; port: number }[] = [];
  const listen = async (option: string, listener: ListenerUrl, role: Role): Promise<number> =>
    server.listen(listener, role).catch((error: unknown) => {
      const { protocol, host, port } = listener;
      throw listenFailure(error, option, `${protocol}://${hostPort(host, port)}`);
    });
  try {
    for (const listener of listeners) open.push({ listener, port: await listen('listeners', listener, 'main') });
    for (const listener of adminListeners) await listen('admin.listeners', listener, 'admin');
    for (const listener of metricsListeners) {
      const port = await listen('metrics.listeners', listener, 'metrics');
      metricsUrls.push(`${listener.protocol}://${hostPort(listener.host, port)}`);
    }
  } catch (error) {
    await server.close();
    throw error;
  }
  const found = advertised(config, open);
  own.url = found.url;
  own.names = [found.advertised, ...[...listeners, ...adminListeners, ...metricsListeners].map(({ host }) => host)].map(
    nameOf,
  );
  return {
    ...found,
    metricsUrls,
    serve: (served) => {
      server.serve(served);
    },
    close: () => server.close(),
  };
}

function withTls(config: WorkerConfig, url: string, prefix: string) {
  const listener = parseListener(url);
  if (listener === undefined) throw new ConfigError(`Listener URL ${url} must be of the form protocol://host:port`);
  return listener.protocol === 'http' ? listener : { ...listener, tls: listenerTls(config.properties, prefix) };
}

/**
 * The advertised address: `rest.advertised.*`, otherwise that of the first listener (with the protocol
 * `rest.advertised.listener` if it is set). A listener on all addresses is advertised with the first external IPv4
 * address of this machine.
 */
function advertised(
  { rest }: WorkerConfig,
  open: readonly { listener: ListenerUrl; port: number }[],
): Pick<RestListeners, 'advertised' | 'url'> {
  const protocol = rest['rest.advertised.listener'];
  const chosen = open.find(({ listener }) => listener.protocol === protocol) ?? open[0];
  const host = rest['rest.advertised.host.name'] ?? chosen?.listener.host ?? '';
  const known = host === '' || host === '0.0.0.0' || host === '::' ? ownAddress() : host;
  const address = hostPort(known, rest['rest.advertised.port'] ?? chosen?.port ?? 0);
  return { advertised: address, url: `${protocol ?? chosen?.listener.protocol ?? 'http'}://${address}` };
}

function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
