import type { Herder } from '../../herder/herder.ts';
import { askFigures } from '../health/ask-figures.ts';
import type { ConnectorHealth } from '../health/connector-health.ts';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { AskRates, Fleet, FleetLook } from '../fleet/fleet.ts';
import { OWN_RATES, WORKER_HISTORY, type OwnRate, type WorkerHistory } from '../fleet/fleet-answers.ts';
import { RequestError } from '../../errors.ts';
import { arrayOf } from '../../json/open-api.ts';
import { askerOf, type Asker, type OtherWorkers } from '../workers/other-workers.ts';
import { validatorOf } from '../../json/validator.ts';
import { answer, answerText, flag, pathName, type Context, type OwnRoute } from '../../rest/resource.ts';
import { SLUICE_VERSION } from '../../version.ts';
import { FLEET_SNAPSHOT, type FleetSnapshot } from './console-answers.ts';
import { consoleFiles, type ConsoleFile } from './console-files.ts';
import { EventStreams } from './event-stream.ts';
import { FleetFeed } from './fleet-feed.ts';

/** Maximum number of open consoles. */
const MAX_CONSOLES = 200;
/** A browser with more unread bytes is disconnected. */
const MAX_UNREAD_BYTES = 8_388_608;
const NOT_BUILT = 'The console was not built: run npm run build';

const isRates = validatorOf<readonly OwnRate[]>(OWN_RATES);
const isHistory = validatorOf<WorkerHistory>(WORKER_HISTORY);

export interface ConsoleSettings {
  readonly readOnly: boolean;
  /** Name of the environment; may be empty. */
  readonly title: string;
  /** `admin.listeners`: the listeners that accept changes of log levels; `undefined`: those of the API; empty: none. */
  readonly adminListeners: readonly string[] | undefined;
}

/** `/ui`: the page of the console, and the overview of all connectors. */
export function consoleResource(
  herder: Herder,
  fleet: Fleet,
  health: ConnectorHealth,
  others: OtherWorkers,
  settings: ConsoleSettings,
): readonly OwnRoute[] {
  const view = new ConsoleView(herder, fleet, health, others);
  const streams = new EventStreams('consoles', MAX_CONSOLES, MAX_UNREAD_BYTES);
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

  return [
    // The fragment of the URL selects the view. Browsers do not send the fragment, so one path serves all views.
    { method: 'GET', path: '/ui', handle: (context) => page(context, 'index.html') },
    {
      method: 'GET',
      path: '/ui/assets/:file',
      handle: (context) => page(context, `assets/${pathName(context, 'file')}`),
    },
    {
      method: 'GET',
      path: '/ui/snapshot',
      answers: { 200: FLEET_SNAPSHOT },
      handle: async (context) => {
        const { at, rows, total, silent } = await view.feed(context).snapshot();
        const { lostWorkWaitsMs = null } = herder.cluster() ?? {};
        const worker = { id: herder.workerId, version: SLUICE_VERSION, ...settings, lostWorkWaitsMs };
        const snapshot: FleetSnapshot = { at, worker, rows, total, silent };
        const text = Buffer.from(JSON.stringify(snapshot));
        context.set('Content-Type', 'application/json');
        answerBytes(context, text, await promisify(gzip)(text, { level: constants.Z_BEST_SPEED }));
      },
    },
    {
      method: 'GET',
      path: '/ui/events',
      answers: { 200: 'text/event-stream' },
      handle: (context) => {
        const feed = view.feed(context);
        const stream = streams.answer(context, () => {
          end();
        });
        const end = feed.listen(stream.write);
      },
    },
    {
      method: 'GET',
      path: '/ui/rates',
      answers: { 200: OWN_RATES },
      handle: (context) => {
        answer(context, 200, fleet.ownRates());
      },
    },
    {
      method: 'GET',
      path: '/ui/connectors/:connector/history',
      answers: { 200: arrayOf(WORKER_HISTORY) },
      handle: async (context) => {
        const connector = pathName(context, 'connector');
        herder.directory.require(connector);
        answerText(context, 200, JSON.stringify(await view.history(context, connector)));
      },
    },
  ];
}

/** The data of the console, gathered from all workers. */
class ConsoleView {
  readonly #herder: Herder;
  readonly #fleet: Fleet;
  readonly #health: ConnectorHealth;
  readonly #others: OtherWorkers;
  #asker: Asker | undefined;
  readonly #feed: FleetFeed;

  constructor(herder: Herder, fleet: Fleet, health: ConnectorHealth, others: OtherWorkers) {
    this.#herder = herder;
    this.#fleet = fleet;
    this.#health = health;
    this.#others = others;
    this.#feed = new FleetFeed({ look: () => this.#look(), onChange: (listener) => fleet.onChange(listener) });
  }

  /** Returns the feed, which sends its requests to other workers with the credentials of the most recent client. */
  feed(context: Context): FleetFeed {
    this.#asker = askerOf(context);
    return this.#feed;
  }

  /** The last hour of a connector, from all workers that have any tasks, because those of the connector may have moved. */
  async history(context: Context, connector: string): Promise<readonly WorkerHistory[]> {
    const own: WorkerHistory = { worker: this.#herder.workerId, ...this.#fleet.history(connector) };
    if (flag(context, 'local')) return [own];
    const get = this.#others.get(askerOf(context));
    const path = `/ui/connectors/${encodeURIComponent(connector)}/history?local=true`;
    const answers = await Promise.allSettled(this.#workers().map((worker) => get(worker, path)));
    const found = answers.flatMap((each) =>
      each.status === 'fulfilled' && Array.isArray(each.value) ? (each.value as unknown[]) : [],
    );
    return [own, ...found.filter((each) => isHistory(each))];
  }

  async #look(): Promise<FleetLook> {
    const asker = this.#asker;
    if (asker === undefined) return { rows: [], silent: [] };
    const get = this.#others.get(asker);
    const askRates: AskRates = async () => {
      const answers = await Promise.allSettled(this.#workers().map((worker) => get(worker, '/ui/rates')));
      return answers.flatMap((each) => (each.status === 'fulfilled' && isRates(each.value) ? [each.value] : []));
    };
    return this.#fleet.look(askFigures(this.#others, asker, '/cluster/tasks'), askRates);
  }

  /** The other workers that have any tasks. */
  #workers(): readonly string[] {
    return this.#health.workers().filter((worker) => worker !== this.#herder.workerId);
  }
}

function answerBytes(context: Context, bytes: Buffer, gzipped: Buffer): void {
  context.status = 200;
  context.vary('Accept-Encoding');
  const isCompressed = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isCompressed) context.set('Content-Encoding', 'gzip');
  context.body = isCompressed ? gzipped : bytes;
}
