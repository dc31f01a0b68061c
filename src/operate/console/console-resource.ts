import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { AskRates, FleetLook, OwnRate } from '../fleet/fleet.ts';
import { HISTORY_SERIES, type ConnectorHistory } from '../fleet/fleet-history.ts';
import { RequestError } from '../../errors.ts';
import { askerOf, OtherWorkers, type Asker } from '../workers/other-workers.ts';
import { ajv } from '../../rest/request-body.ts';
import {
  answer,
  answerText,
  flag,
  pathName,
  type Context,
  type Resource,
  type ResourceDependencies,
} from '../../rest/resource.ts';
import { SLUICE_VERSION } from '../../version.ts';
import { changesResource } from './changes-resource.ts';
import { configResource } from './config-resource.ts';
import { connectorFlowResource } from './connector-flow.ts';
import { connectorLogResource } from './connector-log.ts';
import { consoleFiles, type ConsoleFile } from './console-files.ts';
import { EventStreams } from './event-stream.ts';
import { FleetFeed } from './fleet-feed.ts';
import { sqlResource } from './sql-resource.ts';
import { topicPeekResource } from '../messages/messages-resource.ts';
import { letterResource } from './letter-resource.ts';
import { workerDetailResource } from './worker-detail.ts';

/** More consoles at once are refused. */
const MAX_CONSOLES = 200;
/** A browser that does not read is cut off. */
const MAX_UNREAD_BYTES = 8_388_608;
const NOT_BUILT = 'The console was not built: run npm run build';

const numbers = { type: 'array', maxItems: 1000, items: { type: ['number', 'null'] } } as const;
const isRates = ajv.compile<readonly OwnRate[]>({
  type: 'array',
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, rate: { type: ['number', 'null'] }, spark: numbers },
    required: ['name', 'rate', 'spark'],
  },
});
const isHistory = ajv.compile<ConnectorHistory>({
  type: 'object',
  properties: Object.fromEntries(['at', ...HISTORY_SERIES].map((name) => [name, numbers])),
  required: ['at', ...HISTORY_SERIES],
});

/** `/ui`: the console for browsers, and what it asks beyond the API. */
export const consoleResource: Resource = (router, dependencies) => {
  const { herder, console: settings } = dependencies;
  if (settings === undefined) return;
  workerDetailResource(router, dependencies);
  topicPeekResource(router, dependencies);
  sqlResource(router, dependencies);
  configResource(router, dependencies);
  changesResource(router, dependencies);
  letterResource(router, dependencies);
  const view = new ConsoleView(dependencies);
  const streams = new EventStreams('consoles', MAX_CONSOLES, MAX_UNREAD_BYTES);
  connectorLogResource(router, dependencies);
  connectorFlowResource(router, dependencies);
  let files: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;

  const page = async (context: Context, path: string): Promise<void> => {
    files ??= consoleFiles();
    const found = await files;
    const file = found.get(path);
    if (found.size === 0) files = undefined;
    if (file === undefined) throw new RequestError(404, found.size === 0 ? NOT_BUILT : `There is no ${path}`);
    context.set('Content-Type', file.type);
    context.set('Cache-Control', file.isFixed ? 'public, max-age=31536000, immutable' : 'no-cache');
    answerBytes(context, file.bytes, file.gzipped);
  };

  // Every view has an address of its own; the page reads it behind the number sign.
  router.get('/ui', (context) => page(context, 'index.html'));
  router.get('/ui/assets/:file', (context) => page(context, `assets/${pathName(context, 'file')}`));

  router.get('/ui/snapshot', async (context) => {
    const { at, rows, total, silent } = await view.feed(context).snapshot();
    const { lostWorkWaitsMs = null } = herder.cluster() ?? {};
    const worker = { id: herder.workerId, version: SLUICE_VERSION, ...settings, lostWorkWaitsMs };
    const text = Buffer.from(JSON.stringify({ at, worker, rows, total, silent }));
    context.set('Content-Type', 'application/json');
    answerBytes(context, text, await promisify(gzip)(text, { level: constants.Z_BEST_SPEED }));
  });

  router.get('/ui/events', (context) => {
    const feed = view.feed(context);
    const stream = streams.answer(context, () => {
      end();
    });
    const end = feed.listen(stream.write);
  });

  router.get('/ui/rates', (context) => {
    answer(context, 200, dependencies.fleet.ownRates());
  });

  router.get('/ui/connectors/:connector/history', async (context) => {
    const connector = pathName(context, 'connector');
    herder.directory.require(connector);
    answerText(context, 200, JSON.stringify(await view.history(context, connector)));
  });
};

/** What consoles see, gathered from all workers. */
class ConsoleView {
  readonly #dependencies: ResourceDependencies;
  readonly #others: OtherWorkers;
  #asker: Asker | undefined;
  readonly #feed: FleetFeed;

  constructor(dependencies: ResourceDependencies) {
    this.#dependencies = dependencies;
    this.#others = new OtherWorkers(dependencies);
    const { fleet } = dependencies;
    this.#feed = new FleetFeed({ look: () => this.#look(), onChange: (listener) => fleet.onChange(listener) });
  }

  /** Other workers are asked with the credentials of whoever came last. */
  feed(context: Context): FleetFeed {
    this.#asker = askerOf(context);
    return this.#feed;
  }

  /** Of all workers that have tasks of the connector. */
  async history(
    context: Context,
    connector: string,
  ): Promise<readonly (ConnectorHistory & { readonly worker: string })[]> {
    const { fleet, herder } = this.#dependencies;
    const { workerId } = herder;
    const own = { worker: workerId, ...fleet.history(connector) };
    if (flag(context, 'local')) return [own];
    const get = this.#others.get(askerOf(context));
    const path = `/ui/connectors/${encodeURIComponent(connector)}/history?local=true`;
    const answers = await Promise.allSettled(this.#workers(connector).map((worker) => get(worker, path)));
    const found = answers.flatMap((each) =>
      each.status === 'fulfilled' && Array.isArray(each.value) ? (each.value as unknown[]) : [],
    );
    const others = found.filter((each): each is typeof own => isHistory(each));
    return [own, ...others];
  }

  async #look(): Promise<FleetLook> {
    const asker = this.#asker;
    if (asker === undefined) return { rows: [], silent: [] };
    const get = this.#others.get(asker);
    const askRates: AskRates = async () => {
      const answers = await Promise.allSettled(this.#workers().map((worker) => get(worker, '/ui/rates')));
      return answers.flatMap((each) => (each.status === 'fulfilled' && isRates(each.value) ? [each.value] : []));
    };
    return this.#dependencies.fleet.look(this.#others.ask(asker, '/cluster/tasks'), askRates);
  }

  /** The other workers that have tasks, of one connector or of any. */
  #workers(connector?: string): readonly string[] {
    const { health, herder } = this.#dependencies;
    return health.workers(connector).filter((worker) => worker !== herder.workerId);
  }
}

function answerBytes(context: Context, bytes: Buffer, gzipped: Buffer): void {
  context.status = 200;
  context.vary('Accept-Encoding');
  const isCompressed = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isCompressed) context.set('Content-Encoding', 'gzip');
  context.body = isCompressed ? gzipped : bytes;
}
