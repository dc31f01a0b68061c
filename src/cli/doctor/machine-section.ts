import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseListener } from '../../config/rest-validators.ts';
import type { WorkerConfig } from '../../config/worker-config.ts';
import { withPrefix } from '../../config/worker-config.ts';
import type { ServicePlugin } from '../../connect/api.ts';
import { fail, ok, warn, type Finding } from '../../data/finding.ts';
import { toError } from '../../errors.ts';
import { httpRequest } from '../../http/http-client.ts';
import { pluginProblems } from '../../worker/plugin-list.ts';

/**
 * A lower limit of open files is a warning. A worker has two or three sockets per broker and client, and others for
 * databases and requests.
 */
const FEW_FILES = 4096;
const ANSWER_MS = 2000;

/** The limit of open files of this process. Node.js has raised the soft limit to the hard limit. */
export function fileLimitFinding(): Finding {
  const about = 'open files';
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: string | number } } };
  const limit = report.userLimits?.open_files?.soft ?? 'unlimited';
  const count = Number(limit);
  if (Number.isNaN(count) || count >= FEW_FILES) return ok(about, `at most ${String(limit)}`);
  const remedy = 'ulimit -Hn 65536 (LimitNOFILE=65536 for systemd, --ulimit nofile=65536 for Docker)';
  return warn(about, `at most ${String(count)}, which many connectors reach`, remedy);
}

/** Whether the worker could listen on the addresses of its management API, its metrics and its services. */
export async function portFindings(config: WorkerConfig, services: readonly ServicePlugin[]): Promise<Finding[]> {
  const { listeners, 'admin.listeners': admin } = config.rest;
  const metrics = config.own['metrics.listeners'] ?? [];
  const own = [
    ...listeners.map((url) => ({ property: 'listeners', url })),
    ...(admin ?? []).map((url) => ({ property: 'admin.listeners', url })),
    ...metrics.map((url) => ({ property: 'metrics.listeners', url })),
  ];
  const ofServices = services.flatMap((plugin) => {
    const urls = plugin.addresses?.(withPrefix(config.properties, plugin.optionPrefix)) ?? [];
    return urls.map((url) => ({ property: `${plugin.optionPrefix}listeners`, url }));
  });
  return Promise.all([...own, ...ofServices].map(({ property, url }) => portFinding(property, url)));
}

async function portFinding(property: string, url: string): Promise<Finding> {
  const about = `${property} ${url}`;
  const listener = parseListener(url);
  if (listener === undefined) return fail(about, 'is not of the form http://host:port');
  const { host, port, protocol } = listener;
  const refusal = await listenOnce(host, port);
  if (refusal === undefined) return ok(about, 'is available');
  if (refusal !== 'EADDRINUSE') {
    const reasons: Readonly<Record<string, string>> = {
      EACCES: 'this user may not listen at this port',
      EADDRNOTAVAIL: 'this machine does not have the address',
      ENOTFOUND: 'the host has no address',
    };
    return fail(about, reasons[refusal] ?? refusal, `set ${property} to another host or port`);
  }
  if (protocol === 'http' && property === 'listeners' && (await isConnectWorker(host, port))) {
    return warn(about, 'a Connect worker already listens here', 'if it is not this one, set another port');
  }
  return fail(about, 'the port is taken', `ss -ltnp 'sport = :${String(port)}', or set ${property} to another port`);
}

/** Tries to listen on an address. Returns the error code if this fails. */
async function listenOnce(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(host === '' ? { port } : { port, host });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? toError(error).message;
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}

async function isConnectWorker(host: string, port: number): Promise<boolean> {
  const name = host === '' || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const authority = name.includes(':') ? `[${name}]` : name;
  try {
    const { body } = await httpRequest({
      url: new URL(`http://${authority}:${String(port)}/`),
      timeoutMs: ANSWER_MS,
    });
    return 'kafka_cluster_id' in (JSON.parse(body.toString()) as object);
  } catch {
    return false;
  }
}

/** Whether everything below plugin.path can be loaded. */
export async function pluginFindings({ common }: WorkerConfig): Promise<Finding[]> {
  const folders = common['plugin.path'] ?? [];
  if (folders.length === 0) return [];
  const { count, problems } = await pluginProblems(folders);
  const remedy = `npx sluice plugins --plugin-path ${folders.join(',')}`;
  if (problems.length === 0) return [ok('plugin.path', `${String(count)} plugins can be loaded`)];
  return problems.map((problem) => fail('plugin.path', problem, remedy));
}
