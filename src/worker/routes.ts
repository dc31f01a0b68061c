import type { ConnectorOffsets } from '../herder/connector-offsets.ts';
import type { ConnectorTopics } from '../herder/connector-topics.ts';
import type { Herder } from '../herder/herder.ts';
import type { InternalTopics } from '../herder/internal-topics.ts';
import type { PeerClient } from '../herder/peer-client.ts';
import type { ConnectorValidation } from '../herder/validation.ts';
import type { ConnectorLog } from '../observe/connector-log.ts';
import type { LogLevels } from '../observe/log-levels.ts';
import type { Logger } from '../observe/logger.ts';
import type { NamingName } from '../observe/metrics/metric-names.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { WorkerThreads } from '../observe/thread-figures.ts';
import { changesResource } from '../operate/console/changes-resource.ts';
import { configResource } from '../operate/console/config-resource.ts';
import { connectorDatabaseResource } from '../operate/console/connector-database.ts';
import { connectorFlowResource } from '../operate/console/connector-flow.ts';
import { connectorLevelResource } from '../operate/console/connector-level.ts';
import { connectorLogResource } from '../operate/console/connector-log.ts';
import { consoleResource, type ConsoleSettings } from '../operate/console/console-resource.ts';
import { deadLetterRecordResource } from '../operate/console/dead-letter-record-resource.ts';
import { namedSystemsResource } from '../operate/console/named-systems-resource.ts';
import { refuseWrites } from '../operate/console/read-only-console.ts';
import { sqlResource, type DatabaseApi } from '../operate/console/sql-resource.ts';
import { workerDetailResource } from '../operate/console/worker-detail.ts';
import type { WrittenTopics } from '../operate/console/written-topics.ts';
import type { ConnectorReplays } from '../operate/dead-letters/connector-replays.ts';
import { deadLettersResource } from '../operate/dead-letters/dead-letters-resource.ts';
import { clusterResource } from '../operate/drain/cluster-resource.ts';
import type { WorkerDrains } from '../operate/drain/worker-drains.ts';
import type { Fleet } from '../operate/fleet/fleet.ts';
import type { ConnectorHealth } from '../operate/health/connector-health.ts';
import { healthResource } from '../operate/health/health-resource.ts';
import type { ConnectorHistory } from '../operate/history/connector-history.ts';
import { historyResource } from '../operate/history/history-resource.ts';
import { messagesResource } from '../operate/messages/messages-resource.ts';
import { metricsResource } from '../operate/metrics/metrics-resource.ts';
import type { MetricsSource } from '../operate/metrics/metrics-source.ts';
import { previewResource } from '../operate/preview/preview-resource.ts';
import type { DeadLetterReadings } from '../operate/dead-letters/dead-letter-readings.ts';
import type { MessageReadings } from '../operate/messages/message-readings.ts';
import type { PreviewReadings } from '../operate/preview/preview-readings.ts';
import { OtherWorkers } from '../operate/workers/other-workers.ts';
import { WorkerUrls } from '../operate/workers/worker-urls.ts';
import { connectorPluginsResource } from '../rest/connector-plugins-resource.ts';
import { connectorsResource } from '../rest/connectors-resource.ts';
import { internalResource, SignedBodies } from '../rest/internal-resource.ts';
import { loggersResource } from '../rest/loggers-resource.ts';
import { offsetsResource } from '../rest/offsets-resource.ts';
import { RequestSenders } from '../rest/request-sender.ts';
import type { OwnRoute, Route } from '../rest/resource.ts';
import { rootResource } from '../rest/root-resource.ts';
import type { Served } from '../rest/server.ts';
import { topicsResource } from '../rest/topics-resource.ts';

/** Parts of a worker that the management API needs. */
export interface ServedParts {
  readonly herder: Herder;
  readonly validation: ConnectorValidation;
  readonly offsets: ConnectorOffsets;
  readonly topics: ConnectorTopics;
  readonly readings: {
    readonly deadLetters: DeadLetterReadings;
    readonly messages: MessageReadings;
    readonly previews: PreviewReadings;
  };
  readonly replays: ConnectorReplays;
  readonly health: ConnectorHealth;
  readonly history: ConnectorHistory;
  readonly fleet: Fleet;
  readonly metricsSource: MetricsSource;
  /** `undefined` on a standalone worker. */
  readonly drains: WorkerDrains | undefined;
  /** `undefined` on a standalone worker. */
  readonly internalTopics: InternalTopics | undefined;
  readonly threads: WorkerThreads;
  /** `metrics.naming` */
  readonly metricNamings: readonly NamingName[];
  readonly kafkaClusterId: () => Promise<string>;
  /** Names of all topics of the Kafka cluster. */
  readonly kafkaTopics: () => Promise<readonly string[]>;
  readonly writtenTopics: WrittenTopics;
  /** Sends requests to other workers of the Connect cluster. */
  readonly peers: PeerClient;
  /** `inter.worker.verification.algorithms`; `undefined` on a standalone worker. */
  readonly signatureAlgorithms: readonly string[] | undefined;
  readonly databaseApi: DatabaseApi;
  /** `undefined` if there is no console. */
  readonly console: ConsoleSettings | undefined;
  readonly logLevels: LogLevels;
  /** The most recent log lines of connectors. */
  readonly connectorLog: ConnectorLog;
  /** Values that responses must not contain. */
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

/** Returns all routes of the management API, and the parts that forward requests to other workers. */
export function served(parts: ServedParts): Served {
  const { herder, health, logLevels, logger, metricNamings, metricsSource, peers, threads } = parts;
  const senders = new RequestSenders(herder, parts.signatureAlgorithms);
  const others = new OtherWorkers(peers, new WorkerUrls(herder, peers, parts.drains));
  const metrics = metricsResource(metricsSource, threads, metricNamings);
  const isConsole = parts.console !== undefined;
  const ofConsole = isConsole ? consoleRoutes(parts, parts.console, others, senders) : [];
  const levels = isConsole ? connectorLevelResource(herder, health, logLevels, others, logger) : [];
  return {
    ...{ herder, peers, senders, logger },
    check: parts.console?.readOnly === true ? refuseWrites : () => undefined,
    routes: {
      main: [...apiRoutes(parts, others, senders), ...metrics, ...ofConsole],
      admin: [...loggersResource(herder, logLevels, logger), ...levels],
      metrics,
    },
  };
}

function apiRoutes(parts: ServedParts, others: OtherWorkers, senders: RequestSenders): readonly Route[] {
  const { herder, history, offsets, peers, readings, replays, threads, validation } = parts;
  const signed = new SignedBodies(herder, parts.signatureAlgorithms);
  return [
    // Must precede rootResource, which handles requests to /health in the form that Kafka Connect supports.
    ...healthResource(herder, parts.health, others),
    ...rootResource(herder, threads, parts.kafkaClusterId),
    ...connectorsResource(herder, validation, offsets, senders),
    ...historyResource(herder, history, validation, senders),
    ...offsetsResource(herder, offsets, history, senders),
    ...topicsResource(herder, parts.topics),
    ...connectorPluginsResource(validation),
    ...previewResource(herder, readings.previews),
    ...deadLettersResource({ herder, recorder: history, readings: readings.deadLetters, replays, peers, senders }),
    ...internalResource(herder, signed),
    ...clusterResource(herder, threads, parts.drains, signed),
  ];
}

function consoleRoutes(
  parts: ServedParts,
  settings: ConsoleSettings,
  others: OtherWorkers,
  senders: RequestSenders,
): readonly OwnRoute[] {
  const {
    connectorLog,
    databaseApi,
    fleet,
    health,
    herder,
    history,
    kafkaTopics,
    readings,
    validation,
    writtenTopics,
  } = parts;
  const isReadOnly = settings.readOnly;
  const internalTopics = parts.internalTopics?.names ?? [];
  const ofConfig = { herder, validation, previews: readings.previews, senders, isReadOnly };
  const ofSystems = { herder, validation, kafkaTopics, internalTopics, writtenTopics, isReadOnly };
  return [
    ...workerDetailResource(herder, parts.threads, parts.internalTopics, others),
    ...messagesResource(herder, readings.messages),
    ...sqlResource(databaseApi, isReadOnly),
    ...connectorDatabaseResource(herder, validation.plugins, databaseApi),
    ...configResource(ofConfig),
    ...namedSystemsResource(ofSystems),
    ...changesResource(herder, history, validation, senders),
    ...deadLetterRecordResource(herder, readings.deadLetters),
    ...connectorLogResource(herder, health, connectorLog, others),
    ...connectorFlowResource(herder, health, parts.secrets, others),
    ...consoleResource(herder, fleet, health, others, settings),
  ];
}
