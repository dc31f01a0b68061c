import { within } from '../async/within.ts';
import type { ParameterizedContext } from 'koa';
import type Router from '@koa/router';
import type { ConnectorReplays } from '../operate/dead-letters/connector-replays.ts';
import type { Fleet } from '../operate/fleet/fleet.ts';
import type { ConnectorHealth } from '../operate/health/connector-health.ts';
import type { ConnectorHistory } from '../operate/history/connector-history.ts';
import type { MetricsSource } from '../operate/metrics/metrics-source.ts';
import type { ConnectorOffsets } from '../herder/connector-offsets.ts';
import type { ConnectorTopics } from '../herder/connector-topics.ts';
import type { Herder } from '../herder/herder.ts';
import type { InternalTopics } from '../herder/internal-topics.ts';
import type { Readings } from '../operate/reading/readings.ts';
import type { PeerClient } from '../herder/peer-client.ts';
import type { WorkerDrains } from '../operate/drain/worker-drains.ts';
import type { ConnectorValidation } from '../herder/validation.ts';
import { RequestError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { NamingName } from '../observe/metrics/metric-names.ts';
import type { ConnectorLog } from '../observe/connector-log.ts';
import type { LogLevels } from '../observe/log-levels.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { OwnService } from '../operate/console/pinned-request.ts';
import type { StageTracker } from '../observe/stage.ts';
import type { WorkerThreads } from '../observe/thread-figures.ts';

/** What every resource is given. */
export interface ResourceDependencies {
  readonly herder: Herder;
  readonly validation: ConnectorValidation;
  readonly offsets: ConnectorOffsets;
  readonly readings: Readings;
  readonly replays: ConnectorReplays;
  readonly health: ConnectorHealth;
  readonly history: ConnectorHistory;
  readonly fleet: Fleet;
  readonly metricsSource: MetricsSource;
  readonly topics: ConnectorTopics;
  readonly logLevels: LogLevels;
  /** The last lines of connectors. */
  readonly connectorLog: ConnectorLog;
  /** What no answer may show. */
  readonly secrets: SecretMask;
  /** Other workers of the cluster. */
  readonly peers: PeerClient;
  readonly threads: WorkerThreads;
  /** `metrics.naming` */
  readonly metricNamings: readonly NamingName[];
  readonly kafkaClusterId: () => Promise<string>;
  /** Names of all topics of the cluster. */
  readonly kafkaTopics: () => Promise<readonly string[]>;
  /** `inter.worker.verification.algorithms`; absent on a standalone worker. */
  readonly signatureAlgorithms: readonly string[] | undefined;
  /** `undefined` on a standalone worker. */
  readonly drains: WorkerDrains | undefined;
  /** `undefined` on a standalone worker. */
  readonly internalTopics: InternalTopics | undefined;
  /** The database's HTTP API, where it is a service of this worker. */
  readonly databaseApi: () => Promise<OwnService | undefined>;
  /** `undefined`: there is no console. */
  readonly console: ConsoleSettings | undefined;
  readonly logger: Logger;
}

interface ConsoleSettings {
  readonly readOnly: boolean;
  /** `admin.listeners`, where levels of loggers are set; `undefined`: at the listeners of the API, empty: nowhere. */
  readonly adminListeners: readonly string[] | undefined;
}

export type Context = ParameterizedContext;
export type Resource = (router: Router, dependencies: ResourceDependencies) => void;

/** Answers with JSON, without a charset in the header, as Connect does. */
export function answer(context: Context, status: number, body: unknown): void {
  answerText(context, status, JSON.stringify(body));
}

/** The same with JSON that is text already. */
export function answerText(context: Context, status: number, json: string): void {
  context.status = status;
  context.set('Content-Type', 'application/json');
  context.body = json;
}

export function answerEmpty(context: Context, status: 202 | 204): void {
  context.status = status;
  context.body = status === 204 ? null : '';
  if (status === 202) context.remove('Content-Type');
}

export function pathName(context: Context, parameter: string): string {
  const params = context['params'] as Record<string, string | undefined>;
  return params[parameter] ?? '';
}

/** The first value of a query parameter. */
export function queryText(context: Context, name: string): string | undefined {
  const value = context.query[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Java's Boolean.parseBoolean: everything but `true` is false. */
export function flag(context: Context, name: string, otherwise = false): boolean {
  const text = queryText(context, name);
  return text === undefined ? otherwise : text.toLowerCase() === 'true';
}

/** How long any request may take. */
export const REQUEST_TIMEOUT_MS = 90_000;

/** Connect's limit for a request; what the worker, or the request, is busy with is in the text. */
export async function withinTimeLimit<T>(
  stage: StageTracker,
  work: Promise<T>,
  limitMs = REQUEST_TIMEOUT_MS,
): Promise<T> {
  if (await within(work, limitMs)) return work;
  const doing = stage.describe();
  throw new RequestError(500, doing === '' ? 'Request timed out' : `Request timed out. ${doing}`);
}
