import type { Herder } from '../../herder/herder.ts';
import type { ConnectorHealth } from '../health/connector-health.ts';
import type { ConnectorLog } from '../../observe/connector-log.ts';
import { askerOf, type OtherWorkers } from '../workers/other-workers.ts';
import { validatorOf } from '../../json/validator.ts';
import { answer, flag, pathName, queryText, type Route } from '../../rest/resource.ts';
import { LOG_PART, type LogPart } from './console-answers.ts';
import { eventBytes, EventStreams, type EventStream } from './event-stream.ts';

/** Maximum number of browsers that follow a log. */
const MAX_LOGS = 20;
/** A browser with more unread bytes is disconnected. */
const MAX_UNREAD_BYTES = 4_194_304;
const OWN_MS = 300;
const OTHERS_MS = 2000;
/** Interval of heartbeats, because proxies close idle connections. */
const BEAT_MS = 15_000;
const BEAT = Buffer.from(': still here\n\n');

const isPart = validatorOf<LogPart>(LOG_PART);

/**
 * `/ui/connectors/{connector}/log`: the kept log lines of a connector, then each new one, from this worker and from all
 * workers that have tasks of the connector.
 */
export function connectorLogResource(
  herder: Herder,
  health: ConnectorHealth,
  connectorLog: ConnectorLog,
  others: OtherWorkers,
): readonly Route[] {
  const streams = new EventStreams('logs', MAX_LOGS, MAX_UNREAD_BYTES);

  return [
    {
      method: 'GET',
      path: '/ui/connectors/:connector/log',
      answers: { 200: 'text/event-stream' },
      handle: (context) => {
        const connector = pathName(context, 'connector');
        herder.directory.require(connector);
        if (flag(context, 'local')) {
          answer(context, 200, connectorLog.after(connector, Number(queryText(context, 'after') ?? 0)));
          return;
        }
        const log = new LogFeed(connector, { herder, health, connectorLog }, others.get(askerOf(context)));
        const stream = streams.answer(context, () => {
          log.end();
        });
        log.begin(stream);
      },
    },
  ];
}

interface LogSources {
  readonly herder: Pick<Herder, 'workerId'>;
  readonly health: Pick<ConnectorHealth, 'workers'>;
  readonly connectorLog: ConnectorLog;
}

/** The log events of one browser. */
class LogFeed {
  readonly #connector: string;
  readonly #sources: LogSources;
  readonly #get: (worker: string, path: string) => Promise<unknown>;
  /** For each worker, the number of its last line that was sent. */
  readonly #sent = new Map<string, number>();
  #silent = '';
  #stream: EventStream | undefined;
  #timers: readonly NodeJS.Timeout[] = [];

  constructor(connector: string, sources: LogSources, get: (worker: string, path: string) => Promise<unknown>) {
    this.#connector = connector;
    this.#sources = sources;
    this.#get = get;
  }

  begin(stream: EventStream): void {
    this.#stream = stream;
    this.#sendOwn();
    void this.#askOthers();
    const own = setInterval(() => {
      this.#sendOwn();
    }, OWN_MS).unref();
    const beat = setInterval(() => {
      stream.write(BEAT);
    }, BEAT_MS).unref();
    this.#timers = [own, beat];
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #sendOwn(): void {
    const { herder, connectorLog } = this.#sources;
    const { workerId } = herder;
    this.#sendLines(workerId, connectorLog.after(this.#connector, this.#sent.get(workerId) ?? 0));
  }

  async #askOthers(): Promise<void> {
    const { health, herder } = this.#sources;
    const { workerId } = herder;
    const workers = health.workers(this.#connector).filter((worker) => worker !== workerId);
    const silent: string[] = [];
    await Promise.all(
      workers.map(async (worker) => {
        const after = String(this.#sent.get(worker) ?? 0);
        const path = `/ui/connectors/${encodeURIComponent(this.#connector)}/log?local=true&after=${after}`;
        const part = await this.#get(worker, path).catch(() => undefined);
        if (isPart(part)) this.#sendLines(worker, part);
        else silent.push(worker);
      }),
    );
    const text = silent.sort().join(', ');
    if (text !== this.#silent) this.#send('silent', { workers: silent });
    this.#silent = text;
    if (this.#stream?.isClosed() === false) setTimeout(() => void this.#askOthers(), OTHERS_MS).unref();
  }

  #sendLines(worker: string, { lines, isCut }: LogPart): void {
    const last = lines.at(-1);
    if (last === undefined) return;
    this.#sent.set(worker, last.number);
    this.#send('lines', { worker, isCut, lines });
  }

  #send(event: string, data: unknown): void {
    this.#stream?.write(eventBytes(event, data));
  }
}
